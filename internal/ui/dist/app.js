var R,qn,rn,Be,tn,xt,Hn,kt,jn,an,nn,ca,ot=Symbol.for("pv"),Ct={},Tt=[],ua=/^m(i|n|o|s|text|space)$/,sn=Array.isArray,on=Tt.slice,Ue=Object.assign;function Me(e){
e&&e.parentNode&&e.remove()}function Zn(e,t,r){var a,s,o,i={},l=arguments.length;for(o in t)o=="key"?a=t[o]:o=="ref"&&typeof e!="function"?s=t[o]:i[o]=t[o];return l>
2&&(i.children=l>3?on.call(arguments,2):r),st(e,i,a,s,null)}function st(e,t,r,a,s){var o={type:e,props:t,key:r,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ot,__v:s||++qn,__i:-1,__u:0};return!s&&R.vnode&&R.
vnode(o),o}function b(e){return e.children}function Ke(e,t){this.props=e,this.context=t,this.__g=0}function Re(e,t){if(t==null)return e.__&&Re(e.__,e.__i+1);for(var r;t<e.
__k.length;t++)if((r=e.__k[t])&&r.__e)return r.__e;return typeof e.type!="function"||e.props.__P?null:Re(e)}function da(e){var t,r=e.__v,a=r.__e,s=[],o=[],i=e.__P;
i&&((t=Ue({constructor:ot},r)).__v=r.__v+1,R.vnode&&R.vnode(t),ln(i,t,r,e.__n,i.namespaceURI,32&r.__u?[a]:null,s,a||Re(r),32&r.__u,o),t.__v=r.__v,t.__.__k[t.__i]=
t,Gn(s,t,o),r.__=r.__e=null,t.__e!=a&&Wn(t))}function Wn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),
Wn(e)}function Mn(e){(8&e.__g||(e.__g|=8,Be.push(e),xt++))&&tn==R.debounceRendering||((tn=R.debounceRendering)||queueMicrotask)(zn)}function zn(){try{for(var e,
t=1;Be.length;)Be.length>t&&Be.sort(Hn),e=Be.shift(),t=Be.length,8&e.__g&&da(e)}finally{(xt=Be.length)&&(tn||queueMicrotask)(zn)}}function Jn(e,t,r,a,s,o,i,l,c,f,u){
var d,m,p,v,x,_,k=a.__k||Tt,y=t.length;for(c=pa(r,t,k,c,y),d=0;d<y;d++)(p=r.__k[d])!=null&&(m=~p.__i&&k[p.__i]||Ct,p.__i=d,_=ln(e,p,m,s,o,i,l,c,f,u),v=p.__e,(m.
ref!=p.ref||8&m.__u)&&(m.ref&&cn(m.ref,null,p,m),p.ref&&u.push(p.ref,p.__c||v,p)),x=x||v,4&p.__u?(c=Vn(p,c,e,!m.__v),m.__e&&(m.__e=null)):typeof p.type=="functi\
on"&&_!==void 0?c=_:v&&(c=v.nextSibling),p.__u&=-21);return r.__e=x,c}function pa(e,t,r,a,s){var o,i,l,c,f,u,d,m,p,v=r.length,x=v,_=0,k=0,y=e.__k=Array(s);for(o=
0;o<s;o++)(i=t[o])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=y[o]=st(null,i):sn(i)?i=y[o]=st(b,{children:i}):
i.constructor===ot&&i.__b?i=y[o]=st(i.type,i.props,i.key,i.ref,i.__v):y[o]=i,c=o+_,i.__=e,i.__b=e.__b+1,l=null,~(f=i.__i=fa(i,r,c,x))&&(x--,(l=r[f])&&(l.__u|=2)),
l&&l.__v?(i.__u|=16,f==c-1?_--:f==c+1?_++:f!=c&&(f>c?_--:_++,k=1)):(~f||(s>v?_--:s<v&&_++),typeof i.type!="function"&&(i.__u|=4))):y[o]=null;if(k){for(u=[],d=[],
o=0;o<s;o++)if((i=y[o])&&16&i.__u){for(_=0,m=u.length;_<m;)u[p=_+m>>1]<i.__i?_=p+1:m=p;u[_]=i.__i,d[o]=_+1}for(_=u.length;o--;)d[o]&&(d[o]==_?_--:y[o].__u|=4)}if(x)
for(o=0;o<v;o++)!(l=r[o])||2&l.__u||(l.__e==a&&(a=Re(l)),un(l,l));return a}function Vn(e,t,r,a){var s,o,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;
if(s=e.__k)for(o=0;o<s.length;o++)s[o]&&(s[o].__=e,t=Vn(s[o],t,r,!1));return t}for(t&&!t.parentNode&&(t=Re(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==
8;)l=l.nextSibling;for(i!=l&&(!a&&r.moveBefore&&i.parentNode?r.moveBefore(i,t):r.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith(
"$s"););return t}function fa(e,t,r,a){var s,o=e.key,i=e.type,l=t[r],c=l&&!(2&l.__u);if(l===null&&o==null||c&&o==l.key&&i==l.type)return r;if(a>(c?1:0)){for(s=r-1;s>=0;s--)if((l=
t[s])&&!(2&l.__u)&&o==l.key&&i==l.type)return s;for(s=r+1;s<t.length;s++)if((l=t[s])&&!(2&l.__u)&&o==l.key&&i==l.type)return s}return-1}function Un(e,t,r){r==null&&
(r=""),t[0]=="-"?e.setProperty(t,r):e[t]=r}function bt(e,t,r,a,s){var o,i;if(t=="style")if(typeof r=="string")e.style.cssText=r;else{if(typeof a=="string"&&(e.style.
cssText=a=""),a)for(t in a)r&&t in r||Un(e.style,t);if(r)for(t in r)a&&r[t]==a[t]||Un(e.style,t,r[t])}else if(t[0]=="o"&&t[1]=="n")typeof r!="function"&&(r=null),
typeof a!="function"&&(a=null),(e.__e||(e.__e={}))[t]=r,r&&a||(i=nn[t]||(nn[t]=ma(t)),(e.__a||(e.__a={}))[t]=an,o=t!=(t=t.replace(jn,"$1")),(t=t.slice(2))[0]<"a"&&
(t=t.toLowerCase()),r?e.addEventListener(t,i,o):e.removeEventListener(t,i,o));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)
try{return void(e[t]=r??"")}catch{}if(typeof r=="function")return;r==null||r===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&r==1?"":r)}}function ma(e){
return function(t){var r=this.__e;if(r){if(r=r[e],t[kt]==null)t[kt]=an++;else if(t[kt]<this.__a[e])return;return r(R.event?R.event(t):t)}}}function ln(e,t,r,a,s,o,i,l,c,f){
var u,d,m,p,v,x,_,k,y,g,C,E,F,de,V,z,U,O,L=t.type;if(t.constructor!==ot)return null;128&r.__u&&(c=32&r.__u,u=r.__c.__z)&&(t.__u|=c,d=o=[],u.nodeType==8?l=wt(u,o):
o.push(u),l=o[0]||l),(u=R.__b)&&u(t);e:if(typeof L=="function"){m=i.length;try{if(k=t.props,y=(u=L.prototype)&&u.render,g=(u=L.contextType)&&a[u.__c],C=u?g?g.props.
value:u.__:a,(p=r.__c)?(t.__c=p,2&p.__g&&(p.__g|=1)):(y?t.__c=p=new L(k,C):(t.__c=p=new Ke(k,C),p.constructor=L,p.render=ga),g&&g.sub(p),p.state||(p.state={}),p.
__n=a,p.__g|=8,p.__h=[],p.__k=[]),y&&(p.__s||(p.__s=p.state),L.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=Ue({},p.__s)),Ue(p.__s,L.getDerivedStateFromProps(
k,p.__s)))),v=p.props,x=p.state,p.__v=t,r.__c){if(k!==v&&y&&!L.getDerivedStateFromProps&&p.componentWillReceiveProps&&p.componentWillReceiveProps(k,C),t.__v==r.
__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&p.shouldComponentUpdate(k,p.__s,C)===!1){t.__v!=r.__v&&(p.props=k,p.state=p.__s,p.__g&=-9),t.__e=r.__e,t.__k=
r.__k,t.__k.some(function(q){q&&(q.__=t)}),Tt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&i.push(p),l=Re(r);break e}p.componentWillUpdate&&p.componentWillUpdate(
k,p.__s,C),y&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(v,x,_)})}else y&&!L.getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),
y&&p.componentDidMount&&p.__h.push(p.componentDidMount);p.context=C,p.props=k,p.__P=e,p.__g&=-5,E=R.__r,F=y?25:0;do p.__g&=-9,E&&E(t),u=p.render(p.props,p.state=
p.__s,p.context);while(8&p.__g&&++F<25);y&&(Tt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(a=Ue({},a,p.getChildContext())),y&&r.__c&&p.getSnapshotBeforeUpdate&&
(_=p.getSnapshotBeforeUpdate(v,x)),de=u&&u.type===b&&u.key==null?u.props.children:u,k.__P&&(u=l,s=(e=k.__P).namespaceURI,c=o=null,r.props&&r.props.__P!=e&&(r.__k.
some(function(q){q&&un(q,q)}),r.__k=null),l=r.__k?Re(r,0):null),l=Jn(e,sn(de)?de:[de],t,r,a,s,o,i,l,c,f),k.__P&&(t.__e=null,l=u),t.__u&=-161,d&&d.some(Me),p.__h.
length&&i.push(p),1&p.__g&&(p.__g&=-4)}catch(q){if(i.length=m,t.__v=null,c||o)if(q&&q.then){if(t.__u|=128|c,o){for(~(U=o.indexOf(l||void 0))||(U=o.length);(O=o[U-
1])&&O.nodeType==8;)U--;for(;U<o.length;U++)if(O=o[U])if(o[U]=null,V){if(O==z)break}else{if(O.nodeType!=8)break;O.data.startsWith("$s")&&(z=wt(V=O))}}if(!V){for(;l&&
l.nodeType==8&&l.nextSibling;)l=l.nextSibling;V=l}(u=wt(V=t.__c.__z||(t.__c.__z=V)))?(t.__e=V,l=u):t.__e=l,l=l&&l.nextSibling}else o&&o.some(Me);else t.__e=r.__e;
t.__k||(t.__k=r.__k||[]),q&&q.then||Kn(t),R.__e(q,t,r)}}else l=t.__e=ha(r.__e,t,r,a,s,o,i,c,f,e);return(u=R.diffed)&&u(t),l}function wt(e,t){if(e&&e.nodeType==8&&
e.data.startsWith("$s"))for(var r=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))r++;else if(e.data.startsWith("/$s")&&!--r)return e}t&&t.push(
e)}}function Kn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Kn))}function Gn(e,t,r){for(var a=0;a<r.length;)cn(r[a++],r[a++],r[a++]);R.__c&&R.__c(t,e),e.some(
function(s){try{e=s.__h,s.__h=[],e.some(function(o){o.call(s)})}catch(o){R.__e(o,s.__v)}})}function ha(e,t,r,a,s,o,i,l,c,f){var u,d,m,p,v,x,_,k,y=r.props||Ct,g=t.
props,C=t.type;if(C=="svg"?s="http://www.w3.org/2000/svg":C=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),o){for(u=0;u<o.
length;u++)if((v=o[u])&&(C?v.localName==C:v.nodeType==3)){e=v,o[u]=null;break}}if(!e){if(k=f.ownerDocument||document,!C)return k.createTextNode(g);e=k.createElementNS(
s,C,g.is?g:f),l&&(R.__m&&R.__m(t,o),l=!1),o=null}if(C){if(f=C=="template"&&e.content||e,o=C=="textarea"&&g.defaultValue!=null?null:o&&on.call(f.childNodes),!l&&
o)for(y={},u=0;u<e.attributes.length;u++)y[(v=e.attributes[u]).name]=v.value;for(u in y)v=y[u],u=="dangerouslySetInnerHTML"?m=v:u=="children"||u in g||u=="value"&&
"defaultValue"in g||u=="checked"&&"defaultChecked"in g||bt(e,u,null,v,s);for(u in g)v=g[u],u=="children"?p=v:u=="dangerouslySetInnerHTML"?d=v:u=="value"?x=v:u==
"checked"?_=v:l&&typeof v!="function"||y[u]===v||bt(e,u,v,y[u],s);d?(l||m&&(d.__html==m.__html||d.__html==e.innerHTML)||(e.innerHTML=d.__html),t.__k=[]):(m&&(e.
textContent=""),(C=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&ua.test(C))&&(s="http://www.w3.org/1999/xhtml"),Jn(f,sn(p)?p:[p],t,r,a,s,o,i,o?o[0]:
r.__k&&Re(r,0),l,c),o&&o.some(Me)),l&&C!="textarea"||(u="value",C=="progress"&&x==null?e.removeAttribute(u):x==null||x===e[u]&&(C!="progress"||x)||bt(e,u,x,y[u],
s),u="checked",_!=null&&_!=e[u]&&bt(e,u,_,y[u],s))}else y===g||l&&e.data==g||(e.data=g);return e}function cn(e,t,r,a){try{typeof e=="function"?t?t.__x=e(t)||1:a&&
(a=a.__c||a.__e)&&(t=a.__x)&&(a.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){R.__e(s,r)}}function un(e,t,r){var a,s,o,i;if(R.unmount&&R.unmount(
e),!(a=e.ref)||a.current&&a.current!=e.__e||cn(a,null,t,e),a=e.__c){if(a.componentWillUnmount)try{a.componentWillUnmount()}catch(l){R.__e(l,t)}a.__P=a.__n=null}
if(a=e.__k)for(i=0;i<a.length;i++)a[i]&&un(a[i],t,typeof e.type!="function"||r&&!e.props.__P);!r&&(a=e.__c)&&(a=a.__z)&&(s=wt(a,o=[]))&&(a==e.__e&&o.some(Me),Me(
s),Me(a)),r||Me(e.__e),e.__e=e.__c=e.__=null}function ga(e,t,r){return this.constructor(e,r)}function Yn(e,t){var r,a,s,o;R.__&&R.__(e,t),t.nodeType==9&&(t=t.documentElement),
a=(r=e&&32&e.__u)?null:t.__k,t.__k=st(b,{children:[e]}),s=[],o=[],ln(t,t.__k,a||Ct,Ct,t.namespaceURI,a?null:t.firstChild?on.call(t.childNodes):null,s,a?a.__e:t.
firstChild,r,o),Gn(s,t.__k,o),t.__k.props.children=null}R={__e:function(e,t,r,a){for(var s,o,i;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((i=(o=s.constructor)&&o.getDerivedStateFromError)&&s.setState(o.getDerivedStateFromError(
e)),s.componentDidCatch&&(s.componentDidCatch(e,a||{}),i=1),i&&8&s.__g)return void(s.__g|=2)}catch(l){e=l}}throw xt=0,e}},qn=0,rn=function(e){return e!=null&&e.
constructor===ot},Ke.prototype.setState=function(e,t){var r=this.__s;r&&r!=this.state||(r=this.__s=Ue({},this.state)),typeof e=="function"&&(e=e(Ue({},r),this.props)),
e&&(Ue(r,e),this.__v&&(t&&this.__k.push(t),Mn(this)))},Ke.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),Mn(this))},Ke.prototype.render=
b,Be=[],xt=0,Hn=function(e,t){return e.__v.__b-t.__v.__b},kt=Symbol(),jn=/(PointerCapture)$|Capture$/i,an=0,nn={},ca=0;var qe,G,dn,Qn,pn=Object.is,St=0,ir=[],fn=[],K=R,Xn=K.__b,er=K.__r,tr=K.diffed,nr=K.__c,rr=K.unmount,ar=K.__;function lt(e,t){K.__h&&K.__h(G,e,St||t),St=0;var r=G.
__H||(G.__H={__:[],__h:[]});return e>=r.__.length&&r.__.push({}),r.__[e]}function h(e){return St=1,va(lr,e)}function va(e,t,r){var a=lt(qe++,2);if(a.t=e,!a.__c&&
(a.__=[r?r(t):lr(void 0,t),function(o){var i=(a.__N||a.__)[0],l=a.t(i,o);pn(i,l)||(a.__N=[l,a.__[1]],a.__c.setState({}))}],a.__c=G,!G.__f)){G.__f=!0;var s=G.shouldComponentUpdate;
G.shouldComponentUpdate=function(o,i,l){var c=this.__H;if(!c)return!0;var f=!1,u=this.props!=o;if(c.__.some(function(m){m.__N&&(f=!0,pn(m.__[0],m.__N[0])||(u=!0))}),
s){var d=s.call(this,o,i,l);return f?d||u:d}return!f||u}}return a.__}function J(e,t){var r=lt(qe++,3);!K.__s&&hn(r.__H,t)&&(r.__P=!0,r.__=e,r.u=t,G.__H.__h.push(
r))}function $t(e,t){var r=lt(qe++,4);!K.__s&&hn(r.__H,t)&&(r.__P=!1,r.__=e,r.u=t,G.__h.push(r))}function Y(e){return St=5,At(function(){return{current:e}},[])}function At(e,t){var r=lt(qe++,7);return hn(r.__H,t)&&(r.__=e(),r.__H=t),r.__}function ct(){var e=lt(qe++,11);if(!e.__){for(var t=G.__v;!t.__m&&t.__;)t=t.__;var r=t.__m||(t.__m=[0,0]);e.__="P"+r[0]+"-"+r[1]++}return e.__}function _a(){var e;
do{for(;e=fn.shift();)try{it(e)}catch(r){K.__e(r,{__:(e=e.__P)&&e.__v})}for(;e=ir.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(it),t.__h.some(mn),t.__h=[]}catch(r){
t.__h=[],K.__e(r,e.__v)}}}while(fn.length)}K.__b=function(e){G=null,Xn&&Xn(e)},K.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),ar&&ar(e,t)},K.__r=function(e){
er&&er(e),qe=0;var t=(G=e.__c).__H;t&&(dn==G?G.__h=[]:(t.__h.some(it),t.__h.some(mn),qe=0),t.__h=[],t.__.some(function(r){r.__N&&(r.__=r.__N),r.u=r.__N=void 0})),
dn=G},K.diffed=function(e){tr&&tr(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&or(ir.push(t)),t.__H.__.some(function(r){r.u&&(r.__H=r.u)})),dn=G=null},K.__c=function(e,t){
t.some(function(r){try{r.__h.some(it),r.__h=r.__h.filter(function(a){return!a.__||mn(a)})}catch(a){r.__h=[function(){throw a}]}}),nr&&nr(e,t)},K.unmount=function(e){
rr&&rr(e);var t,r,a=e.__c;a&&a.__H&&(a.__H.__.some(function(s){try{if(s.__P&&s.__c){if(r===void 0){for(r=e.__;r&&(!r.__c||!r.__c.__P);)r=r.__;r=r&&r.__c}s.__P=r,
or(fn.push(s))}else it(s)}catch(o){t=o}}),a.__H=void 0,t&&K.__e(t,a.__v))};var sr=typeof requestAnimationFrame=="function";function ya(e){var t,r=function(){clearTimeout(
a),sr&&cancelAnimationFrame(t),setTimeout(e)},a=setTimeout(r,35);sr&&(t=requestAnimationFrame(r))}function or(e){e!=1&&Qn==K.requestAnimationFrame||((Qn=K.requestAnimationFrame)||
ya)(_a)}function it(e){var t=G,r=e.__c;typeof r=="function"&&(e.__c=void 0,r()),G=t}function mn(e){var t=G;e.__c=e.__(),G=t}function hn(e,t){return!e||e.length!=
t.length||t.some(function(r,a){return!pn(r,e[a])})}function lr(e,t){return typeof t=="function"?t(e):t}var ba=Symbol.for("preact-signals");function Bt(){if($e>1)$e--;else{var e,t=!1;for((function(){var s=Et;for(Et=void 0;s!==void 0;){var o=s.S;if(o.v===s.v)for(var i=o.
t;i!==void 0;i=i.x)i.i===s.i&&(i.i=o.i);s=s.o}})();dt!==void 0;){var r=dt;for(dt=void 0,Pt++;r!==void 0;){var a=r.u;if(r.u=void 0,r.f&=-3,!(8&r.f)&&ur(r))try{r.
c()}catch(s){t||(e=s,t=!0)}r=a}}if(Pt=0,$e--,t)throw e}}function vn(e){if($e>0)return e();gn=++ka,$e++;try{return e()}finally{Bt()}}var ut,Z=void 0;function pt(e){
var t=Z,r=ut;Z=void 0,ut=void 0;try{return e()}finally{Z=t,ut=r}}var dt=void 0,$e=0,Pt=0,ka=0,gn=0,Et=void 0,Nt=0;function cr(e){if(Z!==void 0){var t=e.n;if(t===
void 0||t.t!==Z)return t={i:0,S:e,p:Z.s,n:void 0,t:Z,e:void 0,x:void 0,r:t},Z.s!==void 0&&(Z.s.n=t),Z.s=t,e.n=t,32&Z.f&&e.S(t),t;if(t.i===-1)return t.i=0,t.n!==
void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=Z.s,t.n=void 0,Z.s.n=t,Z.s=t),t}}function te(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=
t?.watched,this.Z=t?.unwatched,this.name=t?.name}te.prototype.brand=ba;te.prototype.h=function(){return!0};te.prototype.S=function(e){var t=this,r=this.t;r!==e&&
e.e===void 0&&(e.x=r,this.t=e,r!==void 0?r.e=e:pt(function(){var a;(a=t.W)==null||a.call(t)}))};te.prototype.U=function(e){var t=this;if(this.t!==void 0){var r=e.
e,a=e.x;r!==void 0&&(r.x=a,e.e=void 0),a!==void 0&&(a.e=r,e.x=void 0),e===this.t&&(this.t=a,a===void 0&&pt(function(){var s;(s=t.Z)==null||s.call(t)}))}};te.prototype.
subscribe=function(e){var t=this;return he(function(){var r=t.value;pt(function(){return e(r)})},{name:"sub"})};te.prototype.valueOf=function(){return this.value};
te.prototype.toString=function(){return this.value+""};te.prototype.toJSON=function(){return this.value};te.prototype.peek=function(){var e=this;return pt(function(){
return e.value})};Object.defineProperty(te.prototype,"value",{get:function(){var e=cr(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.
v){if(Pt>100)throw new Error("Cycle detected");(function(r){$e!==0&&Pt===0&&r.l!==gn&&(r.l=gn,Et={S:r,v:r.v,i:r.i,o:Et})})(this),this.v=e,this.i++,Nt++,$e++;try{
for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{Bt()}}}});function X(e,t){return new te(e,t)}function ur(e){for(var t=e.s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.
S.h()||t.S.i!==t.i)return!0;return!1}function dr(e){for(var t=e.s;t!==void 0;t=t.n){var r=t.S.n;if(r!==void 0&&(t.r=r),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function pr(e){for(var t=e.s,r=void 0;t!==void 0;){var a=t.p;t.i===-1?(t.S.U(t),a!==void 0&&(a.n=t.n),t.n!==void 0&&(t.n.p=a)):r=t,t.S.n=t.r,t.r!==void 0&&(t.r=
void 0),t=a}e.s=r}function He(e,t){te.call(this,void 0,t),this.x=e,this.s=void 0,this.g=Nt-1,this.f=4}He.prototype=new te;He.prototype.h=function(){if(this.f&=-3,
1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Nt))return!0;if(this.g=Nt,this.f|=1,this.i>0&&!ur(this))return this.f&=-2,!0;var e=Z;try{dr(this),Z=this;
var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(r){this.v=r,this.f|=16,this.i++}return Z=e,pr(this),this.f&=-2,!0};He.
prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}te.prototype.S.call(this,e)};He.prototype.U=function(e){if(this.
t!==void 0&&(te.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};He.prototype.N=function(){if(!(2&this.f)){this.
f|=6;for(var e=this.t;e!==void 0;e=e.x)e.t.N()}};Object.defineProperty(He.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=cr(
this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.v}});function je(e,t){return new He(e,t)}function fr(e){var t=e.j;if(e.j=void 0,typeof t==
"function"){$e++;var r=Z;Z=void 0;try{t()}catch(a){throw e.f&=-2,e.f|=8,_n(e),a}finally{Z=r,Bt()}}}function _n(e){for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,
e.s=void 0,fr(e)}function wa(e){if(Z!==this)throw new Error("Out-of-order effect");pr(this),Z=e,this.f&=-2;try{8&this.f&&_n(this)}finally{Bt()}}function Ge(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,ut&&ut.push(this)}Ge.prototype.c=function(){var e=this.S();try{if(8&this.f||this.
x===void 0)return;var t=this.x();typeof t=="function"&&(this.j=t)}finally{e()}};Ge.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=
1,this.f&=-9,fr(this),dr(this),$e++;var e=Z;return Z=this,wa.bind(this,e)};Ge.prototype.N=function(){2&this.f||(this.f|=2,this.u=dt,dt=this)};Ge.prototype.d=function(){
this.f|=8,1&this.f||_n(this)};Ge.prototype.dispose=function(){this.d()};function he(e,t){var r=new Ge(e,t);try{r.c()}catch(s){throw r.d(),s}var a=r.d.bind(r);return a[Symbol.
dispose]=a,a}var mr,Dt,Rt,xa=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var hr=[];he(function(){mr=this.N})();function Ye(e,t){R[e]=t.bind(null,R[e]||function(){})}function ft(e){if(Rt){var t=Rt;Rt=void 0,t()}Rt=e&&e.S()}function gr(e){
var t=this,r=e.data,a=Ta(r);a.name="ReactiveDom",a.value=r;var s=At(function(){for(var l=t,c=t.__v;c=c.__;)if(c.__c){c.__c.__$f|=4;break}var f=je(function(){var p=a.
value.value;return p===0?0:p===!0?"":p||""}),u=je(function(){return!Array.isArray(f.value)&&!rn(f.value)}),d=he(function(){if(this.N=vr,u.value){var p=f.value;l.
__v&&l.__v.__e&&l.__v.__e.nodeType===3&&(l.__v.__e.data=p)}}),m=t.__$u.d;return t.__$u.d=function(){d(),m.call(this)},[u,f]},[]),o=s[0],i=s[1];return o.value?i.
peek():i.value}gr.displayName="ReactiveTextNode";Object.defineProperties(te.prototype,{constructor:{configurable:!0,value:Zn(b,null).constructor},type:{configurable:!0,
value:gr},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});Ye("__b",function(e,t){if(ft(),
Dt=void 0,typeof t.type=="string"){var r,a=t.props;for(var s in a)if(s!=="children"){var o=a[s];o instanceof te&&(r||(t.__np=r={}),r[s]=o,a[s]=o.peek())}}e(t)});
Ye("__r",function(e,t){if(e(t),t.type!==b){ft();var r,a=t.__c;a&&(a.__$f&=-2,(r=a.__$u)===void 0&&(a.__$u=r=(function(s,o){var i;return he(function(){i=this},{name:o}),
i.c=s,i})((function(s){return function(){var o;xa&&((o=this.y)==null||o.call(this)),s.__$f|=1,s.setState({})}})(a),typeof t.type=="function"?t.type.displayName||
t.type.name:""))),Dt=a,ft(r)}});Ye("__e",function(e,t,r,a){ft(),Dt=void 0,e(t,r,a)});Ye("diffed",function(e,t){ft(),Dt=void 0;var r;if(typeof t.type=="string"&&
(r=t.__e)){var a=t.__np,s=t.props,o=r.U;if(o)for(var i in o){var l=o[i];l===void 0||a&&i in a||(l.d(),o[i]=void 0)}if(a){o||(o={},r.U=o);for(var c in a){var f=o[c],
u=a[c];f===void 0?(f=Ca(r,c,u,s),o[c]=f):f.o(u,s)}}}e(t)});function Ca(e,t,r,a){var s=t in e&&e.ownerSVGElement===void 0,o=X(r);return{o:function(i,l){o.value=i,
a=l},d:he(function(){this.N=vr;var i=o.value.value;a[t]!==i&&(a[t]=i,s?e[t]=i:i!=null&&(i!==!1||t[4]==="-")?e.setAttribute(t,i):e.removeAttribute(t))})}}Ye("unm\
ount",function(e,t){if(typeof t.type=="string"){var r=t.__e;if(r){var a=r.U;if(a){r.U=void 0;for(var s in a){var o=a[s];o&&o.d()}}}var i=t.__np;if(i){var l=t.props;
for(var c in i)l[c]=i[c]}t.__np=void 0}else{var f=t.__c;if(f){f.__$f|=8;var u=f.__$u;u&&(f.__$u=void 0,u.d())}}e(t)});Ye("__h",function(e,t,r,a){a<3&&(t.__$f|=2),
e(t,r,a)});Ke.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var r=this.__$u,a=r&&r.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.
u=="boolean"&&this.u===!0){var o=2&this.__$f;if(!(a||o||4&this.__$f)||1&this.__$f)return!0}else if(!(a||4&this.__$f)||3&this.__$f)return!0;for(var i in e)if(i!==
"__source"&&e[i]!==this.props[i])return!0;for(var l in this.props)if(!(l in e))return!0;return!1};function Ta(e,t){return At(function(){return X(e,t)},[])}var Sa=function(e){queueMicrotask(function(){queueMicrotask(e)})};function $a(){vn(function(){for(var e;e=hr.shift();)mr.call(e)})}function vr(){hr.push(this)===1&&(R.requestAnimationFrame||Sa)($a)}var _r=new URL("../",document.baseURI),yn=document.querySelector('meta[name="timerbus"]'),ke={version:yn?.content??"",readOnly:yn?.dataset.readOnly==="true",hidePayloads:yn?.
dataset.hidePayloads==="true"},_e=class extends Error{constructor(r,a,s,o=0){super(s);this.status=r;this.code=a;this.retryAfter=o}status;code;retryAfter};function ne(e){
return e instanceof _e?e:new _e(0,"UNEXPECTED",String(e))}var bn="timerbus-token",Ae=X(sessionStorage.getItem(bn)??""),we=X(null),De=X(null);function Ot(e){Ae.value=
e,e?sessionStorage.setItem(bn,e):sessionStorage.removeItem(bn)}var Lt=X(0);async function kn(e,t){let r=new Headers(t.headers);Ae.value&&r.set("Authorization",`\
Bearer ${Ae.value}`);let a;try{a=await fetch(new URL(e,_r),{...t,headers:r,cache:"no-store"})}catch(o){throw t.signal?.aborted?o:new _e(0,"UNREACHABLE","The ser\
vice cannot be reached: it may be stopped, or the network is down.")}let s=Date.parse(a.headers.get("Date")??"");if(!Number.isNaN(s)){let o=s+500-Date.now();Lt.
value=Math.abs(o)>2e3?o:0}return a}async function wn(e){let{status:t,statusText:r}=e,a=await e.json().catch(()=>null),s=Number(e.headers.get("Retry-After"))*1e3||
0;return new _e(t,String(a?.error??`HTTP_${t}`),String(a?.message??`The server answered ${t} ${r}.`),s)}function yr(e){let{rawJSON:t}=JSON;return t?JSON.parse(e,
(a,s,o)=>typeof s=="number"&&o?.source!==void 0&&o.source.length>15?t(o.source):s):JSON.parse(e)}function mt(e){if(!e.trim())return{};try{return{value:yr(e)}}catch(t){
return{error:`The payload is not JSON: ${t.message}`}}}async function xn(e,t,r,a={}){let s=await kn("api/v1/"+e,{method:"POST",body:JSON.stringify(t),headers:{"\
Content-Type":"application/json",...a},signal:r??null});if(!s.ok){let o=await wn(s);throw o.status===401&&(De.value=o.message),o}return s}async function Oe(e,t,r){
let a=await xn(e,t,r),s=await a.text();return{data:s?yr(s):void 0,late:a.status===202}}async function D(e,t,r){return(await Oe(e,t,r)).data}async function br(e){
let t=await kn("readyz",{signal:e}),r=await t.clone().json().catch(()=>null);if(r&&(t.ok?typeof r.status=="string":t.status===503&&r.reasons?.length))return r;throw await wn(
t)}async function It(e){let t=await kn("metrics",{signal:e});if(!t.ok)throw await wn(t);return t.text()}async function Ft(){let e=await D("caller/get",{});we.value=
e,De.value=null}function Aa(e,t){let r=e.split("*").map(a=>a.replace(/[.+?^${}()|[\]\\]/g,"\\$&"));return new RegExp(`^${r.join(".*")}$`,"s").test(t)}function kr(e,t){
return we.value?.grants.some(r=>r.verbs.includes(e)&&r.namespaces.some(t))??!1}function oe(e,t){return(e==="read"||!ke.readOnly)&&kr(e,r=>Aa(r,t))}function Qe(e){
return(e==="read"||!ke.readOnly)&&kr(e,t=>t==="*")}var wr=_r.href.replace(/\/$/,"");function xr(e){let[t="",r=""]=e.replace(/^#\/?/,"").split("?",2);return{path:t.split("/").filter(Boolean).map(s=>{try{return decodeURIComponent(s)}catch{return s}}),
query:new URLSearchParams(r)}}var re=X(xr(location.hash));addEventListener("hashchange",()=>{re.value=xr(location.hash)});function $(e,t={}){let r=Object.entries(
{ns:T.value,...t}).filter(([,a])=>a);return`#/${e.map(encodeURIComponent).join("/")}?${new URLSearchParams(r)}`}function le(e,t={}){location.hash=$(e,t)}function ge(e){
let t=Object.fromEntries(re.value.query);delete t.cursor,le(re.value.path,{...t,...e})}var Cr="timerbus-namespace",T=je(()=>re.value.query.get("ns")||localStorage.
getItem(Cr)||"default");he(()=>{localStorage.setItem(Cr,T.value)});var Mt=X([]),Cn=X(!1);async function Ut(e){let t=[],r;for(;;){let a=await D("namespaces/list",
{limit:200,cursor:r},e);if(t=t.concat(a.namespaces),r=a.nextCursor,!r||t.length>=1e3)break}return e.aborted||(Mt.value=t,Cn.value=r!==void 0),t}function qt(e,t){
let r=X(localStorage.getItem(e)??t);return he(()=>{localStorage.setItem(e,r.value)}),r}var ye=qt("timerbus-zone","local"),Le=qt("timerbus-theme","auto"),xe=qt("\
timerbus-live","on"),Ht=qt("timerbus-shortcuts","on");he(()=>{Le.value==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=
Le.value});var Pe=X(null),Tr=X(Date.now());setInterval(()=>{document.hidden||(Tr.value=Date.now())},1e3);var Sr=je(()=>Tr.value+Lt.value),ht=()=>Date.now()+Lt.value,
Xe=X([]),Pa=1;function ve(e,t="ok"){let r=Pa++;Xe.value=[...Xe.value,{id:r,text:e,kind:t}],t==="ok"&&setTimeout(()=>{Tn(r)},1e4)}function Tn(e){Xe.value=Xe.value.
filter(t=>t.id!==e)}var Sn=()=>Intl.DateTimeFormat().resolvedOptions().timeZone,$r=new Map;function Ea(){return ye.value==="utc"?"UTC":ye.value==="schedule"&&Pe.value?Pe.value:"loc\
al"}var gt=e=>String(e).padStart(2,"0");function pe(e,t=Ea()){let r=new Date(e);if(Number.isNaN(r.getTime()))return String(e);switch(t){case"UTC":return r.toISOString().
slice(0,19).replace("T"," ");case"local":return`${String(r.getFullYear()).padStart(4,"0")}-${gt(r.getMonth()+1)}-${gt(r.getDate())} ${gt(r.getHours())}:${gt(r.getMinutes())}\
:${gt(r.getSeconds())}`;default:{let a=$r.get(t);return a||(a=new Intl.DateTimeFormat("sv-SE",{dateStyle:"short",timeStyle:"medium",timeZone:t}),$r.set(t,a)),a.
format(r)}}}function Ar(e){return pe(e).slice(11,16)}function Ie(e){let t=Math.abs(e);if(t<1)return t===0?"0 ms":"< 1 ms";if(t<1e3)return`${Math.round(t)} ms`;let r=t/
1e3;return r<10?`${r.toFixed(1)} s`:r<120?`${Math.round(r)} s`:r<7200?`${Math.round(r/60)} min`:r<172800?`${Math.round(r/3600)} h`:`${Math.round(r/86400)} d`}var Ze=e=>e===
void 0?"\u2013":Ie(e*1e3);function Pr(e,t){let r=(typeof e=="number"?e:Date.parse(e))-t,a=Math.abs(r);if(a<500)return"now";let s=a<12e4?`${Math.round(a/1e3)} s`:
Ie(a);return r>0?`in ${s}`:`${s} ago`}var Na=new Intl.NumberFormat("en-US"),P=e=>Na.format(e);function ie(e,t){return`${P(e)} ${t}${e===1?"":"s"}`}var Ba={ns:1e-6,
us:.001,\u00B5s:.001,ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function $n(e){let t=0;for(let[,r="0",a="ms"]of e.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g))t+=Number(
r)*(Ba[a]??0);return t}function Q(e){if(!e)return"";let[,t]=/^(\d+)h(?:0m0s)?$/.exec(e)??[];return t&&Number(t)>24&&Number(t)%24===0?`${Number(t)/24}d`:e.replace(
/(\d+h)0m0s$/,"$1").replace(/(\d+m)0s$/,"$1")}function jt(e){return[e.rate&&`${P(e.rate.count)} per ${Q(e.rate.per)}`,e.concurrency&&`${P(e.concurrency)} at a t\
ime`].filter(Boolean).join(", ")}var Ce=()=>ye.value==="utc"?"UTC":"local";function Fe(e){return e?pe(e,ye.value==="utc"?"UTC":"local").replace(" ","T"):""}function fe(e){
if(!e)return;let t=new Date(ye.value==="utc"?`${e}Z`:e);return Number.isNaN(t.getTime())?void 0:t.toISOString()}function Zt(e){let[,t]=/^[^/?#]*\/\/([^/?#]*)/.exec(
e)??[];return t===void 0?e:t.slice(t.lastIndexOf("@")+1).toLowerCase()}function Wt(e){return/^[A-Za-z0-9_@%+=:,./-]+$/.test(e)?e:`'${e.replaceAll("'","'\\''")}'`}var Ra=Symbol.for("pv"),Da=0;function n(e,t,r,a,s,o){t||(t={});var i,l,c=t;if("ref"in c&&typeof e!="function")for(l in c={},t)l=="ref"?i=t[l]:c[l]=t[l];var f={type:e,props:c,key:r,ref:i,__k:null,
__:null,__b:0,__e:null,__c:null,constructor:Ra,__v:--Da,__i:-1,__u:0};return(s||o)&&(f.__source=s,f.__self=o),R.vnode&&R.vnode(f),f}var Er=!1;function W({title:e,crumb:t,actions:r,children:a}){let s=Y(null);return J(()=>{document.title=`${e} \xB7 Timerbus`},[e]),J(()=>{Er&&(s.current?.focus(
{preventScroll:!0}),scrollTo(0,0)),Er=!0},[]),n(b,{children:[n("div",{class:"page-head",children:[n("div",{class:"page-title",children:[t&&n("div",{class:"crumb",
children:t}),n("h1",{tabIndex:-1,ref:s,children:e})]}),r&&n("div",{class:"actions",children:r})]}),a]})}function N({title:e,aside:t,children:r,wide:a,flush:s}){
let o=ct();return n("section",{class:`card${a?" wide":""}${s?" flush":""}`,"aria-labelledby":e?o:void 0,children:[e&&n("div",{class:"card-head",children:[n("h2",
{id:o,children:e}),t]}),r]})}function ae({kind:e,children:t}){return n("span",{class:`badge ${e}`,children:t})}var Ee=({status:e})=>n(ae,{kind:e,children:e});function I({
at:e,only:t}){if(!e)return n("span",{class:"muted",children:"\u2013"});let r=pe(e);if(t==="absolute")return n("time",{dateTime:e,title:e,children:r});let a=Pr(e,
Sr.value);return t==="relative"?n("time",{dateTime:e,title:r,children:a}):n("time",{dateTime:e,title:e,class:"time",children:[n("span",{children:r})," ",n("span",
{class:"muted",children:a})]})}function w({kind:e="",...t}){return n("button",{type:"button",...t,class:`button ${e}`})}function An({text:e,label:t="Copy"}){let[
r,a]=h(!1);J(()=>{if(!r)return;let o=setTimeout(()=>{a(!1)},2e3);return()=>{clearTimeout(o)}},[r]);let s=async()=>{try{await navigator.clipboard.writeText(e)}catch{
let o=document.createElement("textarea");o.value=e,document.body.append(o),o.select();let i=document.execCommand("copy");if(o.remove(),!i)return}a(!0)};return n(
w,{kind:"small",onClick:()=>{s()},children:r?"Copied":t})}function vt({text:e,label:t}){return n("div",{class:"command",children:[n("pre",{tabIndex:0,"aria-labe\
l":t,children:n("code",{children:e})}),n(An,{text:e})]})}function H({title:e,children:t,command:r}){return n("div",{class:"empty",children:[n("p",{class:"empty-\
title",children:e}),t&&n("p",{class:"muted",children:t}),r&&n(vt,{text:r,label:"Command"})]})}var Oa={UNREACHABLE:"Not reachable",INCOMPLETE:"Not sent",401:"Not\
 signed in",403:"Not allowed",404:"Not found",409:"Changed or existing",429:"Too many requests",503:"Not available",504:"Outcome unknown"};function me({error:e,
again:t}){return n("div",{class:"error",role:"alert",children:[n("div",{children:[n("strong",{children:Oa[e.status||e.code]??"Failed"})," ",n("code",{children:[
e.status||""," ",e.code]}),n("p",{children:e.message})]}),t&&n(w,{kind:"small",onClick:t,children:"Try again"})]})}function j({of:e,children:t}){return n(b,{children:[
e.error&&n(me,{error:e.error,again:e.again}),e.data!==void 0?t(e.data):e.loading&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"\
Loading"})})]})}function We({title:e,close:t,children:r}){let a=Y(null),s=ct();return J(()=>{let o=a.current,i=document.activeElement;return o?.showModal(),()=>{
o?.close(),i?.focus()}},[]),n("dialog",{ref:a,"aria-labelledby":s,onCancel:o=>{o.preventDefault(),t()},children:[n("div",{class:"dialog-head",children:[n("h2",{
id:s,children:e}),n(w,{kind:"icon","aria-label":"Close",onClick:t,children:"\u2715"})]}),r]})}function Nr({label:e,hint:t,children:r,error:a}){let s=ct(),o=t||a?
`${s}-hint`:void 0;return n("div",{class:"field",children:[n("label",{for:s,children:e}),r(s,o),(t||a)&&n("p",{id:o,class:a?"hint bad":"hint",children:a??t})]})}
function B({label:e,value:t,set:r,hint:a,error:s,type:o="text",placeholder:i,required:l,mono:c,step:f}){return n(Nr,{label:e,hint:a,error:s,children:(u,d)=>n("i\
nput",{id:u,type:o,value:t,placeholder:i,required:l,step:f,spellcheck:!1,autocomplete:"off",class:c?"mono":"","aria-describedby":d,"aria-invalid":s?!0:void 0,onInput:m=>{
r(m.currentTarget.value)}})})}function _t({label:e,value:t,set:r,hint:a,error:s,rows:o=5}){return n(Nr,{label:e,hint:a,error:s,children:(i,l)=>n("textarea",{id:i,
rows:o,value:t,class:"mono",spellcheck:!1,"aria-describedby":l,"aria-invalid":s?!0:void 0,onInput:c=>{r(c.currentTarget.value)}})})}function ce({label:e,value:t,
set:r,options:a,hint:s}){let o=ct();return n("div",{class:"field",children:[n("label",{for:o,children:e}),n("select",{id:o,value:t,onChange:i=>{r(i.currentTarget.
value)},children:a.map(([i,l])=>n("option",{value:i,selected:i===t,children:l},i))}),s&&n("p",{class:"hint",children:s})]})}function Te({of:e}){return n("dl",{class:"\
facts",children:e.filter(([,t])=>t!==void 0&&t!==""&&t!==null).map(([t,r])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:r})]},t))})}function se({caption:e,
head:t,children:r,stack:a}){return n("div",{class:"table-wrap",tabIndex:0,role:"group","aria-label":e,children:n("table",{class:a?"stack":"",children:[n("captio\
n",{class:"sr",children:e}),n("thead",{children:n("tr",{children:t.map((s,o)=>n("th",{scope:"col",children:s},o))})}),n("tbody",{children:r})]})})}function et({
value:e,label:t}){return n(vt,{text:typeof e=="string"?e:JSON.stringify(e,null,2),label:t})}function zt({of:e}){return e&&n("div",{class:"callout",children:["Pa\
used",e.by&&` by ${e.by}`," ",n(I,{at:e.at}),e.note&&`: ${e.note}`]})}function Br({bars:e,label:t,every:r}){let a=La(Math.max(1,...e.map(i=>i.value))),s=1e3/Math.
max(1,e.length),o=i=>100*(1-i/a);return n(b,{children:[n("div",{class:"chart",role:"img","aria-label":t,children:[n("svg",{viewBox:"0 0 1000 100",preserveAspectRatio:"\
none","aria-hidden":"true",children:[[0,a/2,a].map(i=>n("line",{x1:"0",x2:"1000",y1:o(i),y2:o(i)},i)),e.map((i,l)=>i.value>0&&n("rect",{x:l*s+s*.08,width:s*.84,
y:Math.min(o(i.value),99),height:Math.max(1,100-o(i.value)),children:n("title",{children:i.title})},l))]}),[0,a/2,a].map(i=>n("span",{class:"y","aria-hidden":"t\
rue",style:{top:`${o(i)}%`},children:Jt(i)},i)),e.map((i,l)=>l%r===0&&n("span",{class:"x","aria-hidden":"true",style:{left:`${l*s/10}%`},children:i.label},l))]}),
n("details",{class:"as-table",children:[n("summary",{children:"As a table"}),n(se,{caption:t,head:["From","Timers"],children:e.filter(i=>i.value>0).map(i=>n("tr",
{children:[n("td",{children:i.label}),n("td",{class:"num",children:i.value})]},i.label+i.title))})]})]})}function La(e){let t=10**Math.floor(Math.log10(e));for(let r of[
1,1.2,1.6,2,3,4,5,6,8,10])if(r*t>=e)return Math.max(2,r*t);return e}function Jt(e){return e>=1e6?`${+(e/1e6).toFixed(1)}M`:e>=1e3?`${+(e/1e3).toFixed(1)}k`:String(
+e.toFixed(1))}function Ia({values:e}){if(e.length<2)return n("svg",{class:"spark",viewBox:"0 0 100 24","aria-hidden":"true"});let t=Math.max(...e,1e-9),r=e.map(
(a,s)=>`${(s/(e.length-1)*100).toFixed(1)},${(22-a/t*20).toFixed(1)}`);return n("svg",{class:"spark",viewBox:"0 0 100 24",preserveAspectRatio:"none","aria-hidde\
n":"true",children:[n("polygon",{points:`0,24 ${r.join(" ")} 100,24`,class:"area"}),n("polyline",{points:r.join(" "),class:"line"})]})}function ee({label:e,value:t,
hint:r,kind:a="",spark:s,href:o}){let i=n(b,{children:[n("span",{class:"tile-label",children:e}),n("span",{class:"tile-value",children:t}),n("span",{class:"tile\
-hint",children:r}),s&&n(Ia,{values:s})]});return o?n("a",{class:`tile ${a}`,href:o,children:i}):n("div",{class:`tile ${a}`,children:i})}function tt(){let e=Y(!1);return J(()=>()=>{e.current=!0},[]),e}function ue({title:e,children:t,verb:r,danger:a,path:s,body:o,done:i,close:l,after:c}){let[f,u]=h(),
[d,m]=h(!1),p=tt(),v=async()=>{let x=o();if(typeof x=="string"){u(new _e(0,"INCOMPLETE",x));return}m(!0);try{let{late:_}=await Oe(s,x);if(ve(_?`${i} An earlier \
delivery may have been sent.`:i,_?"warn":"ok"),p.current)return;l(),c()}catch(_){let k=ne(_);p.current&&ve(`${e}: ${k.message}`,"warn"),u(k),m(!1)}};return n(We,
{title:e,close:l,children:n("form",{onSubmit:x=>{x.preventDefault(),v()},children:[t,f&&n(me,{error:f}),f&&/^(GENERATION|VERSION)_CONFLICT$/.test(f.code)&&n("p",
{class:"hint",children:"It has changed since it was shown. Close this dialog; the page shows the present state."}),n("div",{class:"dialog-foot",children:[n(w,{onClick:l,
children:"Cancel"}),n("button",{type:"submit",class:`button ${a?"danger":"primary"}`,disabled:d,children:d?"Sending\u2026":r})]})]})})}var Rr=250;function Vt(e,t){
return async(r,a)=>{let s=0,o=0;for(let i;;){let{data:l}=await Oe(e,{...t,dryRun:!0,limit:Rr,cursor:i},r);if(a(s+=l.applied),o+=l.skipped,i=l.nextCursor,!i)return{
n:s,more:!1,skipped:o}}}}async function ze(e,t,r,a=()=>{}){let s=0,o=!1;for(let i of t){if(!e.correlationId){let c=await D("timers/count",{...e,status:i},r);s+=
c.count,o||=c.truncated;continue}let l;do{let c=await D("timers/list",{...e,status:i,limit:1e3,cursor:l},r);a(s+=c.timers.length),l=c.nextCursor}while(l)}return{
n:s,more:o}}function nt({action:e,close:t,after:r}){let[a,s]=h("ask"),[o,i]=h(),[l,c]=h(0),[f,u]=h({matched:0,applied:0,late:0,skipped:0,pages:0}),[d,m]=h(),p=Y(
new AbortController),v=Y(void 0),x=Y(!1),_=tt();J(()=>()=>{x.current=!0,p.current.abort()},[]);let k=async()=>{s("counting"),m(void 0),p.current=new AbortController;
try{i(await e.count(p.current.signal,c)),s("counted")}catch(E){if(p.current.signal.aborted)return;m(ne(E)),s("ask")}},y=async()=>{s("running"),m(void 0),x.current=
!1;let E=f;try{do{let{data:F}=await Oe(e.path,{...e.filter,limit:Rr,cursor:v.current});v.current=F.nextCursor,E={matched:E.matched+F.matched,applied:E.applied+F.
applied,late:E.late+(F.late??0),skipped:E.skipped+F.skipped,pages:E.pages+1},u(E)}while(v.current&&!x.current);s(v.current?"cancelled":"ended"),_.current&&ve(`${e.
title}: ${v.current?"stopped, ":""}${C(E)}.`,v.current?"warn":"ok")}catch(F){m(ne(F)),s("failed"),_.current&&ve(`${e.title}: failed, ${C(E)}: ${ne(F).message}`,
"warn")}r()},g=o&&!o.more?o.n+(o.skipped??0):void 0,C=E=>`${ie(E.applied,"timer")} ${e.done}`+(E.late?` (an earlier delivery of ${P(E.late)} may have been sent)`:
"")+(E.skipped?`, ${P(E.skipped)} skipped`:"");return n(We,{title:e.title,close:t,children:[n("p",{children:e.describe}),a==="counting"&&n("p",{role:"status",children:[
"Counting\u2026 ",l>0&&P(l)]}),a==="counted"&&o&&n("p",{role:"status",class:"callout",children:["Dry run: ",o.more?"at least ":"",ie(o.n,"timer")," would be ",e.
done,o.skipped?`, ${P(o.skipped)} would be skipped, because they were retried before`:"",". Nothing was changed."]}),f.pages>0&&n("div",{class:"progress-wrap",children:[
(a==="running"||g!==void 0)&&n("progress",{max:g||1,value:g===void 0?void 0:o?.skipped===void 0?f.applied:f.matched,"aria-label":"Progress"}),n("p",{role:"statu\
s",children:[a==="running"?"Working: ":a==="ended"?"Finished: ":a==="cancelled"?"Cancelled: ":"Stopped: ",C(f),a==="cancelled"&&". The others were not changed."]})]}),
d&&n(me,{error:d}),n("div",{class:"dialog-foot",children:[a==="running"?n(w,{kind:"danger",onClick:()=>{x.current=!0},children:"Cancel"}):n(w,{onClick:t,children:"\
Close"}),(a==="ask"||a==="counted")&&n(w,{onClick:()=>{k()},children:"Dry run"}),(a==="ask"||a==="counted")&&n(w,{kind:e.danger?"danger":"primary",onClick:()=>{
y()},children:[e.verb," ",o?o.more?"all":P(o.n):"all"]}),(a==="cancelled"||a==="failed")&&n(w,{kind:"primary",onClick:()=>{y()},children:"Continue"})]})]})}function Fa(e){let t=[];for(let r of e.split(`
`)){if(!r.startsWith("timerbus_"))continue;let a=/^(\w+)(?:\{(.*)\})? (\S+)/.exec(r);if(!a)continue;let s={};for(let[,o="",i=""]of(a[2]??"").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g))
s[o]=i.replace(/\\(.)/g,(l,c)=>c==="n"?`
`:c);t.push({name:a[1].slice(9),labels:s,value:Number(a[3].replace("Inf","Infinity"))})}return t}var rt=class{at=performance.now();byName=new Map;constructor(t){
for(let r of Fa(t)){let a=this.byName.get(r.name);a?a.push(r):this.byName.set(r.name,[r])}}sum(t,r={}){let a=this.byName.get(t)?.filter(s=>Object.entries(r).every(
([o,i])=>s.labels[o]===i));return a?.length?a.reduce((s,o)=>s+o.value,0):void 0}by(t,r,a={}){let s=new Map;for(let o of this.byName.get(t)??[]){if(!Object.entries(
a).every(([l,c])=>o.labels[l]===c))continue;let i=o.labels[r]??"";s.set(i,(s.get(i)??0)+o.value)}return s}quantile(t,r,a,s={}){if(!a)return;let o=a.by(`${r}_buc\
ket`,"le",s),i=[...this.by(`${r}_bucket`,"le",s)].map(([d,m])=>[d==="+Inf"?1/0:Number(d),m-(o.get(d)??0)]).sort((d,m)=>d[0]-m[0]),l=i.at(-1)?.[1]??0;if(l<=0)return;
let c=t*l,f=0,u=0;for(let[d,m]of i){if(m>=c)return d===1/0?f:f+(d-f)*(m===u?1:(c-u)/(m-u));f=d,u=m}return f}},Dr=6e4,at=class{constructor(t){this.counter=t}counter;scrapes=[];add(t){
let r=t.sum(this.counter)??0;for(this.scrapes=this.scrapes.filter(a=>t.at-a.at<=2*Dr&&(a.sum(this.counter)??0)<=r),this.scrapes.push(t);this.scrapes.length>2&&t.
at-this.scrapes[1].at>Dr;)this.scrapes.shift();return this.scrapes.length>1?this.scrapes[0]:void 0}};var yt=e=>e.timerId!==void 0,Yt=e=>yt(e)&&(e.type==="dead"||e.type==="purged"),Pn=new Set;function Lr(e){return Pn.add(e),()=>{Pn.delete(e)}}function Gt(e){for(let t of Pn)
t(e)}var Ne=X("no"),Or=1e3,Ma=6e4,Ua=45e3,Kt={namespace:"",id:""};async function*qa(e){let t=e.getReader(),r=new TextDecoder,a=()=>{t.cancel().catch(()=>{})},s="",
o={name:"",data:"",id:""},i=0;try{for(;;){i=window.setTimeout(a,Ua);let{done:l,value:c}=await t.read();if(clearTimeout(i),l)return;let f=(s+r.decode(c,{stream:!0})).
split(`
`);s=f.pop()??"";for(let u of f)u===""?(yield o,o={name:"",data:"",id:""}):u.startsWith("event: ")?o.name=u.slice(7):u.startsWith("data: ")?o.data=u.slice(6):u.
startsWith("id: ")&&(o.id=u.slice(4))}}finally{clearTimeout(i),a()}}async function Ha(e,t){let r=Kt.namespace===e&&Kt.id!=="",a=await xn("events/stream",{namespace:e},
t,r?{"Last-Event-ID":Kt.id}:{});if(a.body)for await(let{name:s,data:o,id:i}of qa(a.body)){if(t.aborted)return;i&&(Kt={namespace:e,id:i}),s==="open"?(Ne.value=JSON.
parse(o).complete?"all":"some",r||Gt()):s==="reset"?Gt():s==="change"&&Gt(JSON.parse(o))}}async function ja(e,t){for(let r=0;!t.aborted;){let a=Or;try{await Ha(
e,t),r=0}catch(s){if(t.aborted)return;let o=ne(s);if(r=Ne.value==="no"?r+1:0,a=Math.max(o.retryAfter,Math.min(Ma,Or*2**r)),o.status>=400&&o.status<500&&o.status!==
429)return}if(t.aborted)return;Za(),await new Promise(s=>{let o=setTimeout(s,a*(1+Math.random()));t.addEventListener("abort",()=>{clearTimeout(o),s()},{once:!0})})}}
function Za(){Ne.value!=="no"&&(Ne.value="no",Gt())}var Ir=X(!document.hidden);document.addEventListener("visibilitychange",()=>{Ir.value=!document.hidden});he(
()=>{let e=T.value;if(xe.value!=="on"||!Ir.value||De.value!==null||!we.value||!oe("read",e))return;let t=new AbortController;return ja(e,t.signal),()=>{t.abort(),
Ne.value="no"}});var Wa=6e4,za=2e4,Ja=3e3,Va=100;function M(e,t,r,a=!1,s){let[o,i]=h({key:""}),[l,c]=h(0),f=Y(r);f.current=r;let u=Y(s);u.current=s,$t(()=>{if(e==="")return;let m=new AbortController,
p=0,v=0,x=!1,_=0,k=0,y=!1,g=()=>{clearTimeout(p),xe.value==="on"&&(p=window.setTimeout(()=>{C()},Math.max(0,_-performance.now())))},C=async()=>{if(x||m.signal.aborted||
document.hidden&&p!==0)return;x=!0,y=!1;let z=0,U=performance.now();try{let O=await f.current(m.signal);if(m.signal.aborted)return;v=0,i({key:e,data:O})}catch(O){
if(m.signal.aborted)return;v++;let L=ne(O);if(z=Math.max(L.retryAfter,Math.min(Wa,t*2**v)),i(q=>q.key===e&&q.data!==void 0?{key:e,data:q.data,error:L}:{key:e,error:L}),
L.status>=400&&L.status<500&&L.status!==429)return}finally{x=!1;let O=a?Va*(performance.now()-U):0,L=u.current&&Ne.value==="all"&&z===0?Math.max(t,za):t;k=performance.
now()+Math.max(O,Math.min(t,Ja),z),_=y?k:performance.now()+Math.max(O,L,z)}g()},E=()=>{document.hidden||x||(a||(_=0),g())},F=z=>{!u.current||z&&!u.current(z)||(y=
!0,!(x||document.hidden)&&(_=Math.min(_,k),g()))};document.addEventListener("visibilitychange",E);let de=Lr(F);C();let V=xe.subscribe(E);return()=>{m.abort(),clearTimeout(
p),V(),de(),document.removeEventListener("visibilitychange",E)}},[e,t,l]);let d=o.key===e?o:{key:e};return{data:d.data,error:d.error,loading:e!==""&&d.data===void 0&&
d.error===void 0,again:()=>{c(m=>m+1)}}}var Fr=60;function Ka(){let e=Y(new at("dispatcher_fires_total")),t=Y({fires:[],lateness:[]}),r=Qe("read"),a=M(r?"metrics":"",3e3,async f=>{let u=new rt(await It(
f)),d=e.current.add(u),m=u.sum("dispatcher_fires_total"),p=u.sum("timers_pending"),v=d?(u.at-d.at)/1e3:0,x=d&&m!==void 0?Math.max(0,m-(d.sum("dispatcher_fires_t\
otal")??0))/v:void 0,_=y=>u.quantile(y,"dispatcher_lateness_seconds",d),k={lateness50:_(.5),lateness99:_(.99),fires:x,pending:p,overdue:u.sum("timers_overdue"),
dead:u.sum("timers_dead"),held:p===void 0?void 0:(u.sum("timers_paused")??0)+(u.sum("timers_parked")??0),oldest:u.sum("timers_oldest_overdue_seconds"),whole:p!==
void 0,local:m!==void 0};return x!==void 0&&(t.current.fires=[...t.current.fires,x].slice(-Fr)),k.lateness99!==void 0&&(t.current.lateness=[...t.current.lateness,
k.lateness99].slice(-Fr)),k}),s=!r||a.data?.whole===!1,o=M(s?`counts/${T.value}`:"",3e4,Ga,!0),i=r?a:{...o,data:o.data&&{...o.data,whole:!1,local:!1}},l=i.data&&
{...i.data,...o.data},c=()=>{a.again(),o.again()};return{poll:{...i,data:l,error:i.error??o.error,again:c},series:t.current,everywhere:r}}async function Ga(e){let t=!1,
r=T.value,a=async(f,u)=>{let{n:d,more:m}=await ze({namespace:r,dueBefore:u},f,e);return t||=m,d},s=new Date(ht()).toISOString(),[o,i,l,c]=await Promise.all([a([
"scheduled","retrying"]),a(["scheduled","retrying"],s),a(["dead"]),a(["paused","parked"])]);return{pending:o,overdue:i,dead:l,held:c,least:t}}var Qt=(e,t)=>t===
void 0?"\u2013":n(b,{children:[e.least&&n("small",{children:"at least "}),Jt(t)]});function Ya({of:e}){let t=e.reasons??[],r=e.degraded??[],a=t.length?"dead":r.
length?"retrying":"done";return n("div",{class:`health ${a}`,role:"status",children:[n(ae,{kind:a,children:t.length?"not ready":r.length?"degraded":"healthy"}),
t.length===0&&r.length===0&&n("span",{children:"Requests are served, and all parts work."}),n("ul",{children:[t.map(s=>n("li",{children:s},s)),r.map(s=>n("li",{
children:[n("strong",{children:s.part}),": ",s.reason,", ",n(I,{at:s.since})]},s.part))]})]})}var En=[["24h","24 hours",24,30],["1h","1 hour",1,1],["7d","7 days",
168,240]];function Qa(){let[e,t]=h("24h"),[,r,a,s]=En.find(([l])=>l===e)??En[0],o=M(`forecast/${T.value}/${e}`,6e4,l=>{let c=s*6e4,f=Math.floor(ht()/c)*c;return D(
"timers/forecast",{namespace:T.value,from:new Date(f).toISOString(),to:new Date(f+a*36e5).toISOString(),bucket:`${s}m`},l)},!0),i=n("div",{class:"segments",role:"\
group","aria-label":"Range of the forecast",children:En.map(([l,c])=>n("button",{type:"button","aria-pressed":e===l,onClick:()=>{t(l)},children:c},l))});return n(
N,{title:"Forecast",aside:i,wide:!0,children:n(j,{of:o,children:l=>{let c=Date.parse(l.from),f=l.counts.reduce((d,m)=>d+m,0),u=l.counts.map((d,m)=>{let p=c+m*s*
6e4;return{label:a>24?pe(p).slice(5,16):Ar(p),value:d,title:`${pe(p)}: ${ie(d,"timer")}`}});return n(b,{children:[n("p",{class:"muted",children:[ie(f,"timer"),"\
 of ",T.value," due in the next ",r,l.truncated&&`, counted until ${pe(l.completeBefore)}`]}),f===0?n(H,{title:"Nothing is due in this time.",command:`timerbus \
timer create hello --in 1h -n ${T.value}`,children:"Create a timer:"}):n(Br,{bars:u,every:Math.ceil(u.length/(innerWidth<600?4:8)),label:`Timers due in the next\
 ${r}, for each ${s} minutes: ${f} in all`})]})}})})}function Xt(e){return e.callbackUrl?Zt(e.callbackUrl):e.topic?`topic ${e.topic}`:"event"}function Xa(){let e=M(
`next/${T.value}`,3e3,t=>D("timers/list",{namespace:T.value,order:"due",limit:8},t),!1,yt);return n(N,{title:"Due next",aside:n("a",{href:$(["timers"]),children:"\
All timers"}),flush:!0,children:n(j,{of:e,children:({timers:t})=>t.length===0?n(H,{title:"No timer waits.",command:`timerbus timer create hello --in 3s --callba\
ck-url http://127.0.0.1:9000/ -n ${T.value}`,children:"Create one, here or with the CLI:"}):n(se,{caption:"Timers that are due next",head:["Due","Timer","Target",
"Status"],children:t.map(r=>n("tr",{children:[n("td",{children:n(I,{at:r.dueAt,only:"relative"})}),n("td",{class:"id",children:n("a",{href:$(["timers",r.id]),children:r.
id})}),n("td",{class:"clip",children:Xt(r)}),n("td",{children:n(Ee,{status:r.status})})]},r.uuid))})})})}function es(){let e=M(`failed/${T.value}`,1e4,t=>D("tim\
ers/list",{namespace:T.value,status:"dead",limit:8},t),!1,Yt);return n(N,{title:"Dead letters",aside:n("a",{href:$(["dead"]),children:"By reason"}),flush:!0,children:n(
j,{of:e,children:({timers:t})=>t.length===0?n(H,{title:"No timer is dead.",children:"Timers whose retry policy has ended appear here."}):n(se,{caption:"Some dea\
d timers",head:["Timer","Target","Error"],children:t.map(r=>n("tr",{children:[n("td",{class:"id",children:n("a",{href:$(["timers",r.id]),children:r.id})}),n("td",
{class:"clip",children:Xt(r)}),n("td",{class:"clip",title:r.lastError,children:r.lastError})]},r.uuid+r.generation))})})})}function Mr(){let e=M("health",5e3,br),
{poll:t,series:r,everywhere:a}=Ka(),s=t.data,o=s&&!s.whole?`namespace ${T.value}`:"cluster";return n(W,{title:"Overview",children:[n(j,{of:e,children:i=>n(Ya,{of:i})}),
n(j,{of:t,children:i=>n(b,{children:[n("div",{class:"tiles",children:[n(ee,{label:"Lateness p50",value:Ze(i.lateness50),hint:"start of the attempt",kind:i.lateness50!==
void 0&&i.lateness50>5?"warn":""}),n(ee,{label:"Lateness p99",value:Ze(i.lateness99),hint:"last minute",kind:i.lateness99!==void 0&&i.lateness99>10?"warn":"",spark:r.
lateness}),n(ee,{label:"Fires",value:i.fires===void 0?"\u2013":`${Jt(i.fires)}/s`,hint:"last minute",spark:r.fires}),n(ee,{label:"Pending",value:Qt(i,i.pending),
hint:(i.pending??0)<1e3?"scheduled, retrying":P(i.pending??0),href:$(["timers"])}),n(ee,{label:"Backlog",value:Qt(i,i.overdue),hint:i.oldest?`oldest ${Ze(i.oldest)}`:
"overdue timers",kind:(i.oldest??0)>10?"warn":""}),n(ee,{label:"Dead",value:Qt(i,i.dead),hint:i.whole?"can be retried":"in the history",kind:i.dead?"bad":"",href:$(
["dead"])}),n(ee,{label:"Paused, parked",value:Qt(i,i.held),hint:o,href:$(["timers"],{status:"paused"})})]}),!i.local&&n("p",{class:"callout",children:a?n(b,{children:[
"This process delivers no timers, so it has no lateness and fires. Dispatchers export them at ",n("code",{children:"/metrics"}),"; the Grafana dashboard shows a\
ll processes."]}):n(b,{children:"Lateness and fires need the right to read all namespaces."})})]})}),n("div",{class:"grid",children:[n(Qa,{}),n(Xa,{}),n(es,{})]})]})}var ts=50,ns=[["","Live (all that are not finished)"],["scheduled","Scheduled"],["retrying","Retrying"],["paused","Paused"],["parked","Parked"],["done","Done"],
["dead","Dead"]];function Nn({timers:e,caption:t}){return n(se,{caption:t,head:["Timer","Status","Due","Target","Attempts","Last error"],stack:!0,children:e.map(
r=>n("tr",{children:[n("td",{class:"id","data-label":"Timer",children:n("a",{href:$(["timers",r.id]),children:r.id})}),n("td",{"data-label":"Status",children:n(
Ee,{status:r.status})}),n("td",{"data-label":"Due",children:n(I,{at:r.status==="done"||r.status==="dead"?r.executeAt:r.dueAt})}),n("td",{class:"clip","data-labe\
l":"Target",title:r.callbackUrl??r.topic,children:Xt(r)}),n("td",{class:"num","data-label":"Attempts",children:r.attempts}),n("td",{class:"clip","data-label":"L\
ast error",title:r.lastError,children:r.lastError??n("span",{class:"muted",children:"\u2013"})})]},r.uuid+r.generation))})}function Ur(){let e=re.value.query,t=e.
get("status")??"",r=e.get("correlationId")??"",a=e.get("dueFrom")??"",s=e.get("dueBefore")??"",o=e.get("cursor")??"",i=(t===""||t==="scheduled"||t==="retrying")&&
!r,[l,c]=h(""),[f,u]=h(null),d={namespace:T.value,status:t||void 0,correlationId:r||void 0,dueFrom:a||void 0,dueBefore:s||void 0},m=JSON.stringify([d,i,o]),p=M(
m,o?1e4:3e3,g=>D("timers/list",{...d,order:i?"due":"key",limit:ts,cursor:o||void 0},g),!1,yt),v=M(r?"":JSON.stringify(d),3e4,g=>ze(d,[d.status],g),!0),x=oe("wri\
te",T.value),_=g=>{let C={pause:["Pause timers","Pause","paused"],resume:["Resume timers","Resume","resumed"],delete:["Delete timers","Delete","deleted"],retry:[
"Retry timers","Retry","started again"],purge:["Delete from history","Delete","removed from history"]},[E,F,de]=C[g],{status:V,...z}=d,U=g==="resume"?z:d,O=`tim\
ers/${g}-matching`,L=g==="resume"?["paused"]:g==="pause"&&!t?["scheduled","retrying"]:[d.status];u({title:E,verb:F,done:de,path:O,filter:U,danger:g==="delete"||
g==="purge",describe:n(b,{children:["All timers of ",n("strong",{children:T.value})," that this page\u2019s filter selects, not only those of the shown page."]}),
count:g==="retry"||g==="purge"?Vt(O,U):(q,A)=>ze(d,L,q,A)})},k=!!(t||r||a||s),y=x&&n(b,{children:[(t===""||t==="scheduled"||t==="retrying")&&n(w,{onClick:()=>{_(
"pause")},children:"Pause all\u2026"}),(t===""||t==="paused")&&n(w,{onClick:()=>{_("resume")},children:"Resume all\u2026"}),(t==="dead"||t==="parked")&&n(w,{onClick:()=>{
_("retry")},children:"Retry all\u2026"}),(t==="dead"||t==="done")&&n(w,{onClick:()=>{_("purge")},children:"Delete all\u2026"}),t!=="dead"&&t!=="done"&&k&&n(w,{onClick:()=>{
_("delete")},children:"Delete all\u2026"}),n("a",{class:"button primary",href:$(["new","timer"]),children:"Create timer"})]});return n(W,{title:"Timers",actions:y,
children:[n("form",{class:"filters",role:"search",onSubmit:g=>{g.preventDefault(),l.trim()&&le(["timers",l.trim()])},children:[n("div",{class:"field",children:[
n("label",{for:"open",children:"Open by id"}),n("div",{class:"joined",children:[n("input",{id:"open","data-search":!0,type:"search",value:l,placeholder:"order-1\
842",spellcheck:!1,onInput:g=>{c(g.currentTarget.value)}}),n("button",{type:"submit",class:"button",children:"Open"})]})]}),n(ce,{label:"Status",value:t,options:ns,
set:g=>{ge({status:g})}}),n(Je,{label:"Correlation id",value:r,set:g=>{ge({correlationId:g})}}),n(Je,{label:`Due from (${Ce()})`,type:"datetime-local",value:Fe(
a),set:g=>{ge({dueFrom:fe(g)})}}),n(Je,{label:"Due before",type:"datetime-local",value:Fe(s),set:g=>{ge({dueBefore:fe(g)})}}),(k||o)&&n(w,{kind:"ghost",onClick:()=>{
le(["timers"])},children:"Clear"})]}),n(N,{flush:!0,wide:!0,children:n(j,{of:p,children:g=>n(b,{children:[g.timers.length===0?n(H,{title:k||o?"No timer matches.":
"There are no timers in this namespace.",command:k||o?void 0:`timerbus timer create hello --in 3s --callback-url http://127.0.0.1:9000/ -n ${T.value}`,children:k||
o?g.nextCursor?"This page is empty; the next one may not be.":"Change the filter, or clear it.":"Create the first one, here or with the CLI:"}):n(Nn,{timers:g.timers,
caption:"Timers"}),n("div",{class:"pager",children:[n("span",{class:"muted",role:"status",children:[v.data&&`${v.data.more?"at least ":""}${P(v.data.n)} in all`,
v.error&&`counting failed: ${v.error.message}`,i?"the next due first":"in a fixed order"].filter(Boolean).join(", ")}),n("span",{class:"pager-buttons",children:[
o&&n("a",{class:"button",href:$(["timers"],{...Object.fromEntries(e),cursor:void 0}),children:"First page"}),g.nextCursor&&n("a",{class:"button",href:$(["timers"],
{...Object.fromEntries(e),cursor:g.nextCursor}),children:"Next page"})]})]})]})})}),f&&n(nt,{action:f,close:()=>{u(null)},after:()=>{p.again(),v.again()}})]})}function Je({
label:e,value:t,set:r,type:a}){let[s,o]=h(t),[i,l]=h(t);i!==t&&(l(t),o(t));let c=()=>{s!==t&&r(s)};return n("div",{onFocusOut:c,onKeyDown:f=>{f.key==="Enter"&&(f.
preventDefault(),c())},children:n(B,{label:e,value:s,set:o,type:a,step:a?"1":void 0})})}var rs=5e3,as=500,ss=20,Bn=100;function os(e,t){for(let r of t){let a=r.callbackUrl?Zt(r.callbackUrl):"",s=r.lastError??"",o=`${a}\0${s}`,i=e.groups.get(o);i||(i=
{host:a,error:s,status:r.lastStatusCode,timers:[],count:0,oldest:r.executeAt,newest:r.executeAt},e.groups.set(o,i)),i.count++,i.timers.length<ss&&i.timers.push(
r),r.executeAt<i.oldest&&(i.oldest=r.executeAt),r.executeAt>i.newest&&(i.newest=r.executeAt)}e.read+=t.length}var Rn=e=>e.host||"no URL";async function qr(e,t,r,a){
let s=e?{...e,groups:new Map([...e.groups].map(([i,l])=>[i,{...l,timers:[...l.timers]}]))}:{groups:new Map,read:0,cursor:void 0},o=s.read+rs;do{let i=await D("t\
imers/list",{...t,limit:as,cursor:s.cursor},r);os(s,i.timers),s.cursor=i.nextCursor,r.aborted||a({...s})}while(s.cursor&&s.read<o);return s}function is({of:e}){
let[t,r]=h(e.timers);return J(()=>{let a=new AbortController,s=o=>D("timers/get",{namespace:o.namespace,id:o.id},a.signal).then(i=>i.generation===o.generation?o:
{...o,status:i.status},()=>o);return Promise.all(e.timers.map(s)).then(o=>{a.signal.aborted||r(o)}),()=>{a.abort()}},[e.timers.map(a=>a.uuid+a.generation).join()]),
n(Nn,{timers:t,caption:`Dead timers of ${Rn(e)}`})}function Hr(){let e=re.value.query,t=e.get("correlationId")??"",r=e.get("dueFrom")??"",a=e.get("dueBefore")??
"",s=T.value,o={namespace:s,status:"dead",correlationId:t||void 0,dueFrom:r||void 0,dueBefore:a||void 0},i=JSON.stringify(o),[l,c]=h(),[f,u]=h(),d=f?.key===i?f:
void 0,[m,p]=h(),[v,x]=h(null),[_,k]=h(0),y=M(d?"":i,1e4,A=>qr(void 0,o,A,S=>{y.data||c({key:i,read:S})}),!0,Yt),g=d?.read??y.data??(l?.key===i?l.read:void 0),C=d?.
busy??y.loading,E=d?d.error:y.error,F=Y(new AbortController);J(()=>()=>{F.current.abort()},[i]);let de=async A=>{F.current=new AbortController;let{signal:S}=F.current,
be=A;u({key:i,read:be,busy:!0});try{be=await qr(A,o,S,Se=>{be=Se,u({key:i,read:be,busy:!0})}),S.aborted||u({key:i,read:be,busy:!1})}catch(Se){S.aborted||u({key:i,
read:be,busy:!1,error:ne(Se)})}},V=()=>{F.current.abort(),u(void 0),k(A=>A+1),y.again()},z=(A,S)=>{let be=S?{...o,callbackHost:S.host,lastError:S.error}:o,Se=`t\
imers/${A}-matching`;x({title:A==="retry"?"Retry dead timers":"Delete dead timers",verb:A==="retry"?"Retry":"Delete",done:A==="retry"?"started again":"removed f\
rom history",path:Se,filter:be,danger:A==="purge",describe:S?n(b,{children:["All dead timers of ",n("strong",{children:s})," that ",S.host?n(b,{children:["call ",
n("strong",{children:S.host})]}):"have no URL"," and failed with ",n("q",{children:S.error}),"."]}):n(b,{children:["All dead timers of ",n("strong",{children:s}),
" that this page\u2019s filter selects, also those that were not read yet."]}),count:Vt(Se,be)})},U=oe("write",s),O=g?[...g.groups].sort(([,A],[,S])=>S.count-A.
count):[],L=!!(t||r||a),q=U&&O.length>0&&n(b,{children:[n(w,{kind:"primary",onClick:()=>{z("retry")},children:"Retry all\u2026"}),n(w,{kind:"danger-ghost",onClick:()=>{
z("purge")},children:"Delete all\u2026"})]});return n(W,{title:"Dead letters",actions:q,children:[n("form",{class:"filters",role:"search",onSubmit:A=>{A.preventDefault()},
children:[n(Je,{label:"Correlation id",value:t,set:A=>{ge({correlationId:A})}}),n(Je,{label:`Planned from (${Ce()})`,type:"datetime-local",value:Fe(r),set:A=>{ge(
{dueFrom:fe(A)})}}),n(Je,{label:"Planned before",type:"datetime-local",value:Fe(a),set:A=>{ge({dueBefore:fe(A)})}}),L&&n(w,{kind:"ghost",onClick:()=>{le(["dead"])},
children:"Clear"})]}),E&&n(me,{error:E,again:V}),!g&&C&&n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})}),g&&O.length===
0&&!C&&n(N,{children:n(H,{title:L?"No dead timer matches.":"No timer is dead.",children:L?"Change the filter, or clear it.":n(b,{children:["Timers whose retry p\
olicy has ended appear here, with their payload, for the dead retention of the namespace. ",n("a",{href:$(["timers"],{status:"retrying"}),children:"Timers that \
are retried"})]})})}),g&&O.length>0&&n(b,{children:[n("p",{class:"muted",role:"status",children:[ie(g.read,"dead timer")," in ",ie(O.length,"group"),", by host \
and reason",g.cursor&&", and more",". A timer that was retried stays here as the history of its earlier run, until it is deleted or the dead retention ends."]}),
n("div",{class:"groups",children:O.slice(0,Bn).map(([A,S])=>n("section",{class:"card group","aria-label":`${Rn(S)}: ${S.error}`,children:[n("div",{class:"group-\
head",children:[n("span",{class:"group-count",children:P(S.count)}),n("div",{class:"group-text",children:[n("div",{children:[n("strong",{children:Rn(S)})," ",S.
status?n(ae,{kind:"dead",children:["HTTP ",S.status]}):null]}),n("div",{class:"reason",children:S.error||"no reason"}),n("div",{class:"muted",children:["planned\
 ",pe(S.oldest),S.newest!==S.oldest&&` to ${pe(S.newest)}`]})]}),n("div",{class:"actions",children:[U&&S.error&&n(w,{kind:"small",onClick:()=>{z("retry",S)},children:"\
Retry\u2026"}),U&&S.error&&n(w,{kind:"small danger-ghost",onClick:()=>{z("purge",S)},children:"Delete\u2026"}),n(w,{kind:"small ghost","aria-expanded":m===A,onClick:()=>{
p(m===A?void 0:A)},children:[m===A?"Hide":"Show"," timers"]})]})]}),m===A&&n(is,{of:S},_),m===A&&S.count>S.timers.length&&n("p",{class:"muted pad",children:["Th\
e first ",S.timers.length," of ",P(S.count),"."]})]},A))}),O.length>Bn&&n("p",{class:"muted",children:["The ",Bn," largest groups."]}),g.cursor&&n("p",{children:n(
w,{disabled:C,onClick:()=>{de(g)},children:C?"Reading\u2026":"Read more"})})]}),v&&n(nt,{action:v,close:()=>{x(null)},after:V})]})}function jr(e){return e.cron?e.cron:e.every?`every ${Q(e.every)}`:e.rrule?e.rrule:ie(e.dates?.length??0,"date")}function ls({payload:e,request:t,headers:r,...a}){
return ke.hidePayloads?a:{...a,payload:e,request:t,headers:r}}function Zr(){let e=re.value.query.get("status")??"",t=re.value.query.get("cursor")??"",r=T.value,
a=M(`${r}/${e}/${t}`,5e3,s=>D("schedules/list",{namespace:r,status:e||void 0,limit:50,cursor:t||void 0},s),!1,s=>s.scheduleId!==void 0);return n(W,{title:"Sched\
ules",actions:oe("write",r)&&n("a",{class:"button primary",href:$(["new","schedule"]),children:"Create schedule"}),children:[n("form",{class:"filters",role:"sea\
rch",onSubmit:s=>{s.preventDefault()},children:n(ce,{label:"Status",value:e,set:s=>{ge({status:s})},options:[["","All"],["active","Active"],["paused","Paused"],
["parked","Parked"]]})}),n(N,{flush:!0,wide:!0,children:n(j,{of:a,children:s=>n(b,{children:[s.schedules.length===0?n(H,{title:e?`No schedule is ${e}.`:"There a\
re no schedules in this namespace.",command:e?void 0:`timerbus schedule create daily-report --cron '0 8 * * MON-FRI' --time-zone Europe/Berlin -n ${r}`,children:!e&&
"A schedule creates a timer for each of its instants. Create the first one, here or with the CLI:"}):n(se,{caption:"Schedules",head:["Schedule","Status","Occurs",
"Time zone","Next","Created"],stack:!0,children:s.schedules.map(o=>n("tr",{children:[n("td",{class:"id","data-label":"Schedule",children:n("a",{href:$(["schedul\
es",o.id]),children:o.id})}),n("td",{"data-label":"Status",children:n(Ee,{status:o.status})}),n("td",{class:"clip","data-label":"Occurs",children:n("code",{children:o.
specs.map(jr).join("; ")})}),n("td",{"data-label":"Time zone",children:o.timeZone}),n("td",{"data-label":"Next",children:n(I,{at:o.nextAt})}),n("td",{class:"num",
"data-label":"Created",children:o.created})]},o.id))}),(s.nextCursor||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"pager-buttons",children:[
t&&n("a",{class:"button",href:$(["schedules"],{status:e}),children:"First page"}),s.nextCursor&&n("a",{class:"button",href:$(["schedules"],{status:e,cursor:s.nextCursor}),
children:"Next page"})]})]})]})})})]})}var cs={gap:"The clocks skip its local time; it occurs after the gap.",first:"The clocks repeat its local time; this is t\
he first of the two.",second:"The clocks repeat its local time; this is the second of the two."};function Dn({of:e,timeZone:t}){return e.length===0?n(H,{title:"\
There are no further occurrences."}):n(se,{caption:"Next occurrences",head:[`Local time (${t})`,"Instant","Remark"],stack:!0,children:e.map(r=>n("tr",{children:[
n("td",{"data-label":"Local time",children:r.local.replace("T"," ")}),n("td",{"data-label":"Instant",children:n(I,{at:r.at})}),n("td",{"data-label":"Remark",children:r.
remark?n(b,{children:[n(ae,{kind:"retrying",children:"DST"})," ",cs[r.remark]]}):n("span",{class:"muted",children:"\u2013"})})]},r.at))})}function Wr({id:e}){let t=T.
value,r=d=>d.scheduleId===e,a=M(`schedule/${t}/${e}`,3e3,d=>D("schedules/get",{namespace:t,id:e},d),!1,r),s=a.data,o=M(`preview/${t}/${e}/${s?.version??0}`,3e4,
d=>D("schedules/preview",{namespace:t,id:e,limit:10},d)),i=M(`decisions/${t}/${e}`,5e3,d=>D("schedules/history",{namespace:t,id:e,limit:50},d),!1,r),[l,c]=h(null);
J(()=>(Pe.value=s?.timeZone??null,()=>{Pe.value=null}),[s?.timeZone]);let f=()=>{a.again(),i.again(),o.again()},u=s&&oe("write",t)&&s.status!=="ended"&&n(b,{children:[
n(w,{kind:"primary",onClick:()=>{c("trigger")},children:"Trigger\u2026"}),s.status==="active"?n(w,{onClick:()=>{c("pause")},children:"Pause\u2026"}):n(w,{onClick:()=>{
c("resume")},children:"Resume\u2026"}),n(w,{onClick:()=>{c("backfill")},children:"Backfill\u2026"}),n(w,{kind:"danger-ghost",onClick:()=>{c("delete")},children:"\
Delete\u2026"})]});return n(W,{title:e,crumb:n(b,{children:[n("a",{href:$(["schedules"]),children:"Schedules"})," / ",t]}),actions:u,children:[n(j,{of:a,children:d=>n(
"div",{class:"grid",children:[n(us,{of:d}),n(N,{title:"Timer of an occurrence",children:[n(et,{value:ls(d.timer),label:"Template"}),ke.hidePayloads&&n("p",{class:"\
hint",children:"Its payload, body and headers are hidden by the settings of the server."})]}),n(N,{title:"Next occurrences",wide:!0,flush:!0,aside:o.data&&n("sp\
an",{class:"muted",children:["time zones ",o.data.zoneVersion]}),children:[d.status==="paused"&&n("p",{class:"callout",children:"The schedule is paused: these o\
ccurrences are not created until it is resumed."}),n(j,{of:o,children:m=>n(Dn,{of:m.occurrences,timeZone:m.timeZone})})]}),n(N,{title:"Decisions",wide:!0,flush:!0,
children:n(j,{of:i,children:({decisions:m})=>m.length===0?n(H,{title:"No occurrence was due yet."}):n(se,{caption:"Decisions about occurrences",head:["Occurrenc\
e","Decision","Reason","Timer"],stack:!0,children:m.map(p=>n("tr",{children:[n("td",{"data-label":"Occurrence",children:n(I,{at:p.at})}),n("td",{"data-label":"D\
ecision",children:n(ae,{kind:p.decision==="created"?"done":p.decision==="skipped"?"retrying":"paused",children:p.decision})}),n("td",{"data-label":"Reason",children:p.
reason??n("span",{class:"muted",children:"\u2013"})}),n("td",{class:"id","data-label":"Timer",children:p.timerId?n("a",{href:$(["timers",p.timerId]),children:p.
timerId}):n("span",{class:"muted",children:"\u2013"})})]},p.at+p.decidedAt+p.decision))})})})]})}),s&&l&&n(ds,{of:s,action:l,close:()=>{c(null)},after:f})]})}function us({
of:e}){return n(N,{title:"Definition",aside:n(Ee,{status:e.status}),children:[n(zt,{of:e.pause}),n(Te,{of:[["Occurs",e.specs.map((t,r)=>n("div",{children:n("cod\
e",{children:jr(t)})},r))],["Time zone",e.timeZone],["Next",e.nextAt&&n(I,{at:e.nextAt})],["Created timers",e.created],["From",e.start&&n(I,{at:e.start})],["Unt\
il",e.end&&n(I,{at:e.end})],["At most",e.count],["Overlap",e.overlap],["Catch-up",e.catchUpWindow?`${e.catchUp}, within ${Q(e.catchUpWindow)}`:e.catchUp],["Skip\
ped local times",e.gap],["Repeated local times",e.repeated],["Pause after dead",e.pauseOnDead],["Version",e.version],["Updated",n(I,{at:e.updatedAt})]]})]})}function ds({
of:e,action:t,close:r,after:a}){let[s]=h(e),[o,i]=h(""),[l,c]=h("keep"),f={namespace:s.namespace,id:s.id},u={close:r,after:a};switch(t){case"trigger":return n(ue,
{...u,title:`Trigger ${s.id}`,verb:"Trigger",path:"schedules/trigger",body:()=>f,done:`${s.id} has created an occurrence.`,children:n("p",{children:"Creates an \
occurrence now, in addition to the planned ones."})});case"pause":return n(ue,{...u,title:`Pause ${s.id}`,verb:"Pause",path:"schedules/pause",body:()=>({...f,note:o||
void 0}),done:`${s.id} is paused.`,children:[n("p",{children:"A paused schedule creates no occurrences."}),n(B,{label:"Note",value:o,set:i})]});case"resume":return n(
ue,{...u,title:`Resume ${s.id}`,verb:"Resume",path:"schedules/resume",body:()=>f,done:`${s.id} is resumed.`,children:n("p",{children:"The schedule continues wit\
h its next occurrence."})});case"delete":return n(ue,{...u,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"schedules/delete",done:`${s.id} is deleted.`,after:()=>{
le(["schedules"])},body:()=>({...f,pending:l,ifVersion:s.version}),children:n(ce,{label:"Its timers that are not finished",value:l,set:c,options:[["keep","Keep \
them"],["delete","Delete them"]]})});default:return n(ps,{of:s,...u})}}function ps({of:e,close:t,after:r}){let[a,s]=h(""),[o,i]=h(""),[l,c]=h(),[f,u]=h(""),[d,m]=h(
!1),p=tt(),v=Y(!1);J(()=>()=>{v.current=!0},[]);let x=async()=>{let _=fe(o),k=fe(a);if(!k||!_){c(new _e(0,"INCOMPLETE","Enter both times."));return}m(!0),c(void 0),
v.current=!1;let y=0,g=0,C=()=>`${ie(y,"occurrence")} created, ${g} existed`;try{do{let E=await D("schedules/backfill",{namespace:e.namespace,id:e.id,from:k,to:_});
y+=E.created,g+=E.kept,k=E.nextFrom,u(`${C()}${k?`, continuing at ${pe(k)}`:""}.`)}while(k&&!v.current);k?ve(`${e.id}: ${C()}. Stopped at ${pe(k)}.`,"warn"):ve(
`${e.id}: ${C()}.`),v.current||t()}catch(E){let F=ne(E);p.current&&ve(`Backfill ${e.id}: failed, ${C()}: ${F.message}`,"warn"),c(F)}m(!1),r()};return n(We,{title:`\
Backfill ${e.id}`,close:t,children:n("form",{onSubmit:_=>{_.preventDefault(),x()},children:[n("p",{children:"Creates the occurrences of a past time range that d\
o not exist. They are delivered at once."}),n(B,{label:`From (${Ce()})`,type:"datetime-local",step:"1",value:a,set:s,required:!0}),n(B,{label:"Before",type:"dat\
etime-local",step:"1",value:o,set:i,required:!0,hint:"Not in the future."}),f&&n("p",{role:"status",class:"callout",children:f}),l&&n(me,{error:l}),n("div",{class:"\
dialog-foot",children:[d?n(w,{kind:"danger",onClick:()=>{v.current=!0},children:"Stop"}):n(w,{onClick:t,children:"Close"}),n("button",{type:"submit",class:"butt\
on primary",disabled:d,children:d?"Working\u2026":"Backfill"})]})]})})}function zr(e,t){return`curl${Ae.value?` \\
  -H "Authorization: Bearer $TIMERBUS_TOKEN"`:""} ${wr}/api/v1/${e} \\
  -d ${Wt(JSON.stringify(t,null,2))}`}function Jr(e,t){let r=[...t,...T.value==="default"?[]:[["--namespace",T.value]]],a=e.at(-1)??"";return["timerbus "+(a.startsWith(
"-")?[...e.slice(0,-1),`--id=${a}`]:e).map(Wt).join(" "),...r.filter(([,o])=>o).map(([o,i])=>`  ${o} ${Wt(i)}`)].join(` \\
`)}function On(e){return Object.fromEntries(Object.entries(e).filter(([t,r])=>r!==void 0&&(r!==""||t==="payload")))}function Vr({curl:e,cli:t}){return n(N,{title:"\
The same request",children:[n("h3",{children:"curl"}),n(vt,{text:e,label:"curl"}),n("h3",{children:"Command line"}),n(vt,{text:t,label:"Command line"})]})}function Kr({
title:e,label:t,id:r,invalid:a,send:s,children:o}){let[i,l]=h(),[c,f]=h(!1),u=tt(),d=oe("write",T.value),m=async()=>{if(a){l(new _e(0,"INCOMPLETE",a));return}f(
!0),l(void 0);try{let p=await s();u.current||le(p)}catch(p){let v=ne(p);u.current&&ve(`${t} ${r}: ${v.message}`,"warn"),l(v)}f(!1)};return n(N,{title:e,children:n(
"form",{onSubmit:p=>{p.preventDefault(),m()},children:[o,i&&n(me,{error:i}),!d&&n("p",{class:"callout",children:["You have no right to write in ",T.value,"."]}),
n("button",{type:"submit",class:"button primary",disabled:c||!d,children:c?"Sending\u2026":t})]})})}var Gr=[["fail","Refuse (409)"],["replace","Replace it"],["k\
eep","Keep it"]];function Yr({children:e}){return n("details",{class:"more",onInvalidCapture:t=>{t.currentTarget.open=!0},children:[n("summary",{children:"More \
settings"}),e]})}function Qr(){let[e,t]=h(""),[r,a]=h("in"),[s,o]=h("15m"),[i,l]=h(""),[c,f]=h(""),[u,d]=h(Sn),[m,p]=h("http://127.0.0.1:9000/"),[v,x]=h('{"orde\
r": 1842}'),[_,k]=h(""),[y,g]=h(""),[C,E]=h(""),[F,de]=h(""),[V,z]=h("fail"),U=mt(v),O=On({namespace:T.value,id:e,executeIn:r==="in"?s:void 0,executeAt:r==="at"?
fe(i):void 0,executeAtLocal:r==="local"?c.length===16?c+":00":c:void 0,timeZone:r==="local"?u:void 0,callbackUrl:m,payload:U.value,retryPolicy:_?{maxAttempts:Number(
_)}:void 0,callbackTimeout:y,correlationId:C,flowKey:F,onConflict:V}),L=[["--in",r==="in"?s:""],["--at",r==="at"?fe(i)??"":""],["--at-local",String(O.executeAtLocal??
"")],["--time-zone",String(O.timeZone??"")],["--callback-url",m],["--payload",U.value===void 0?"":JSON.stringify(U.value)],["--max-attempts",_],["--callback-tim\
eout",y],["--correlation-id",C],["--flow-key",F],["--on-conflict",V]],q=async()=>{let{data:A,late:S}=await Oe("timers/create",O);return ve(S?`${A.id} is replace\
d. An earlier delivery may have been sent.`:`${A.id} is created.`,S?"warn":"ok"),["timers",A.id]};return n(W,{title:"Create timer",crumb:n(b,{children:[n("a",{href:$(
["timers"]),children:"Timers"})," / ",T.value]}),actions:n("a",{class:"button",href:$(["new","schedule"]),children:"Schedule instead"}),children:n("div",{class:"\
grid",children:[n(Kr,{title:"Timer",label:"Create timer",id:e,invalid:U.error,send:q,children:[n(B,{label:"Id",value:e,set:t,required:!0,placeholder:"order-1842",
mono:!0,hint:"Unique in the namespace."}),n(ce,{label:"When",value:r,set:a,options:[["in","After a duration"],["at","At an instant"],["local","At a local time"]]}),
r==="in"&&n(B,{label:"Duration",value:s,set:o,hint:"Such as 200ms, 30s, 1h30m or 1d12h."}),r==="at"&&n(B,{label:`Time (${Ce()})`,type:"datetime-local",step:"1",
value:i,set:l,required:!0}),r==="local"&&n(b,{children:[n(B,{label:"Local time",type:"datetime-local",step:"1",value:c,set:f,required:!0}),n(B,{label:"Time zone",
value:u,set:d,hint:"If the rules of the zone change, the timer moves with them."})]}),n(B,{label:"Callback URL",value:m,set:p,mono:!0,hint:"Empty: an event on t\
imerbus.fired."}),n(_t,{label:"Payload (JSON)",value:v,set:x,error:U.error}),n(ce,{label:"If the id exists",value:V,set:z,options:Gr}),n(Yr,{children:[n(B,{label:"\
Attempts, at most",type:"number",value:_,set:k,hint:"1 to 1000; by default those of the namespace."}),n(B,{label:"Callback timeout",value:y,set:g,placeholder:"3\
0s"}),n(B,{label:"Correlation id",value:C,set:E}),n(B,{label:"Flow key",value:F,set:de,hint:"Timers with the same key share a limit of the namespace."})]})]}),n(
Vr,{curl:zr("timers/create",O),cli:Jr(["timer","create",e||"order-1842"],L)})]})})}function Xr(){let[e,t]=h(""),[r,a]=h("cron"),[s,o]=h("0 8 * * MON-FRI"),[i,l]=h(
"15m"),[c,f]=h("FREQ=MONTHLY;BYDAY=-1FR"),[u,d]=h(Sn),[m,p]=h("http://127.0.0.1:9000/"),[v,x]=h(""),[_,k]=h("allow"),[y,g]=h("all"),[C,E]=h(""),[F,de]=h("fail"),
[V,z]=h(),[U,O]=h(),L=mt(v),q=r==="cron"?{cron:s}:r==="every"?{every:i}:{rrule:c},A=r!=="every",S=On({namespace:T.value,id:e,specs:[q],timeZone:A?u:void 0,overlap:_,
catchUp:y,count:C?Number(C):void 0,timer:On({callbackUrl:m,payload:L.value}),onConflict:F}),be=[[`--${r}`,String(Object.values(q)[0])],["--time-zone",A?u:""],["\
--callback-url",m],["--payload",L.value===void 0?"":JSON.stringify(L.value)],["--overlap",_],["--catch-up",y],["--count",C],["--on-conflict",F]],Se=JSON.stringify(
{namespace:T.value,specs:[q],timeZone:A?u:void 0});J(()=>{let Ve=new AbortController,la=setTimeout(()=>{D("schedules/preview",{...JSON.parse(Se),limit:6},Ve.signal).
then(en=>{z(en),O(void 0)},en=>{Ve.signal.aborted||(O(ne(en)),z(void 0))})},300);return()=>{clearTimeout(la),Ve.abort()}},[Se]);let ia=async()=>{let{data:Ve}=await Oe(
"schedules/create",S);return ve(`${Ve.id} is created.`),["schedules",Ve.id]};return n(W,{title:"Create schedule",crumb:n(b,{children:[n("a",{href:$(["schedules"]),
children:"Schedules"})," / ",T.value]}),actions:n("a",{class:"button",href:$(["new","timer"]),children:"Timer instead"}),children:n("div",{class:"grid",children:[
n(Kr,{title:"Schedule",label:"Create schedule",id:e,invalid:L.error,send:ia,children:[n(B,{label:"Id",value:e,set:t,required:!0,placeholder:"daily-report",mono:!0}),
n(ce,{label:"Occurs",value:r,set:a,options:[["cron","Cron expression"],["every","Interval"],["rrule","RRULE"]]}),r==="cron"&&n(B,{label:"Cron expression",value:s,
set:o,mono:!0,hint:"Minute, hour, day of month, month, day of week; 6 fields begin with seconds."}),r==="every"&&n(B,{label:"Interval",value:i,set:l,hint:"At le\
ast 1s."}),r==="rrule"&&n(B,{label:"RRULE",value:c,set:f,mono:!0}),A&&n(B,{label:"Time zone",value:u,set:d}),n(B,{label:"Callback URL",value:m,set:p,mono:!0,hint:"\
Empty: an event on timerbus.fired."}),n(_t,{label:"Payload (JSON)",value:v,set:x,error:L.error,rows:3}),n(ce,{label:"If the id exists",value:F,set:de,options:Gr}),
n(Yr,{children:[n(ce,{label:"If the earlier occurrence is not finished",value:_,set:k,options:[["allow","Create the next one"],["skip","Leave the next one out"],
["queue","Create it afterwards"],["cancelOther","Delete the earlier one"]]}),n(ce,{label:"After an outage",value:y,set:g,options:[["all","Create all of the last\
 minute"],["last","Create the last one"],["none","Create none"]]}),n(B,{label:"Occurrences, at most",type:"number",value:C,set:E})]})]}),n("div",{class:"column",
children:[n(N,{title:"Next occurrences",flush:!0,children:[U&&n(me,{error:U}),V&&n(Dn,{of:V.occurrences,timeZone:V.timeZone})]}),n(Vr,{curl:zr("schedules/create",
S),cli:Jr(["schedule","create",e||"daily-report"],be)})]})]})})}function ea(){let e=M("namespaces",15e3,Ut),[t,r]=h(!1);return n(W,{title:"Namespaces",actions:Qe("admin")&&n(w,{kind:"primary",onClick:()=>{r(!0)},children:"Cr\
eate namespace\u2026"}),children:[n(N,{flush:!0,wide:!0,children:n(j,{of:e,children:a=>a.length===0?n(H,{title:"You may read no namespace.",command:"timerbus ke\
y list",children:"Ask an administrator for a grant such as read@default."}):n(b,{children:[Cn.value&&n("p",{class:"callout",children:["The first ",P(a.length),"\
 namespaces. ",n("code",{children:"timerbus namespace list"})," prints all."]}),n(se,{caption:"Namespaces",head:["Namespace","Shards","History","Dead","Host con\
currency","Max. pending","Signed","Updated"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Namespace",children:[n("a",{href:$(["\
namespaces",s.name]),children:s.name})," ",s.deletingSince&&n(ae,{kind:"dead",children:"being deleted"})]}),n("td",{class:"num","data-label":"Shards",children:s.
numShards}),n("td",{"data-label":"History",children:Q(s.settings.historyRetention)}),n("td",{"data-label":"Dead",children:Q(s.settings.deadRetention)}),n("td",{
class:"num","data-label":"Host concurrency",children:s.settings.hostConcurrency}),n("td",{class:"num","data-label":"Max. pending",children:s.settings.quota?.maxPending?
P(s.settings.quota.maxPending):n("span",{class:"muted",children:"no limit"})}),n("td",{"data-label":"Signed",children:s.settings.secrets?.length?"yes":n("span",
{class:"muted",children:"no"})}),n("td",{"data-label":"Updated",children:n(I,{at:s.updatedAt,only:"relative"})})]},s.name))})]})})}),t&&n(fs,{close:()=>{r(!1)},
after:e.again})]})}function fs({close:e,after:t}){let[r,a]=h(""),[s,o]=h("small");return n(ue,{title:"Create namespace",verb:"Create",path:"namespaces/create",body:()=>r?
{name:r,preset:s}:"Enter a name.",done:`${r} is created.`,close:e,after:t,children:[n(B,{label:"Name",value:r,set:a,required:!0}),n(ce,{label:"Size",value:s,set:o,
hint:"It can never be changed.",options:[["small","Below 10,000 timers (16 shards)"],["medium","Below 1,000,000 (256)"],["large","Below 10,000,000 (1,024)"],["x\
large","Below 100,000,000 (4,096)"]]})]})}function ta({name:e}){let t=M(`namespace/${e}`,5e3,c=>D("namespaces/get",{name:e},c)),[r,a]=h(null),[s,o]=h(!1),i=c=>{
a({title:`${c==="pause"?"Pause":"Resume"} ${e}`,verb:c==="pause"?"Pause":"Resume",done:c==="pause"?"paused":"resumed",path:`timers/${c}-matching`,filter:{namespace:e},
describe:c==="pause"?"All scheduled and retrying timers of the namespace. Timers that are created later are not paused.":"All paused timers of the namespace.",count:(f,u)=>ze(
{namespace:e},c==="resume"?["paused"]:["scheduled","retrying"],f,u)})},l=t.data&&n(b,{children:[oe("write",e)&&n(w,{onClick:()=>{i("pause")},children:"Pause all\
 timers\u2026"}),oe("write",e)&&n(w,{onClick:()=>{i("resume")},children:"Resume all timers\u2026"}),oe("admin",e)&&n(w,{kind:"primary",onClick:()=>{o(!0)},children:"\
Edit\u2026"})]});return n(W,{title:e,crumb:n("a",{href:$(["namespaces"]),children:"Namespaces"}),actions:l,children:[n(j,{of:t,children:c=>{let f=c.settings,u=f.
retryPolicy;return n("div",{class:"grid",children:[n(N,{title:"Settings",aside:c.deletingSince&&n(ae,{kind:"dead",children:"being deleted"}),children:n(Te,{of:[
["Shards",c.numShards],["Callback timeout",Q(f.callbackTimeout)],["Retry",`${ie(u.maxAttempts,"attempt")}, from ${Q(u.initialInterval)}, \xD7 ${JSON.stringify(u.
backoffMultiplier)}, to ${Q(u.maxInterval)}`],["History",Q(f.historyRetention)],["Dead timers",Q(f.deadRetention)],["Payloads of done timers",f.keepPayload?Q(f.
keepPayload):"not kept"],["Final statuses",f.finalStatuses?.join(", ")],["Event topics",f.eventTopics?.join(", ")],["On done",f.onDone&&n("code",{children:f.onDone})],
["On dead",f.onDead&&n("code",{children:f.onDead})],["Headers",f.headers&&Object.keys(f.headers).join(", ")],["Version",c.version],["Updated",n(I,{at:c.updatedAt})]]})}),
n(N,{title:"Limits",children:n(Te,{of:[["Calls of one host",`${f.hostConcurrency} for each dispatcher`],["Pending timers",f.quota?.maxPending?P(f.quota.maxPending):
"no limit"],["Creates",f.quota?.createsPerSecond?`${P(f.quota.createsPerSecond)} per second`:"no limit"],["Payload",f.quota?.maxPayloadBytes?`${P(f.quota.maxPayloadBytes)}\
 bytes`:"102,400 bytes"],...(f.flows??[]).map(d=>[`Flow ${d.pattern}`,jt(d)])]})}),n(N,{title:"Keys of signatures",flush:!0,wide:!0,children:f.secrets?.length?n(
se,{caption:"Keys of signatures",head:["Id","Created","Expires"],children:f.secrets.map(d=>n("tr",{children:[n("td",{children:n("code",{children:d.id})}),n("td",
{children:n(I,{at:d.createdAt})}),n("td",{children:d.expiresAt?n(I,{at:d.expiresAt}):"never"})]},d.id))}):n(H,{title:"Callbacks of this namespace are not signed\
.",command:`timerbus namespace update ${e} --secret -`,children:"Set a secret with the CLI:"})}),(f.callbackAuth||f.tls)&&n(N,{title:"Authentication of callback\
s",children:n(Te,{of:[["Type",f.callbackAuth?.type],["Token endpoint",f.callbackAuth?.tokenUrl],["Client",f.callbackAuth?.clientId??f.callbackAuth?.username],["\
Own authorities",f.tls?.ca&&"yes"],["Client certificate",f.tls?.certificate&&"yes"]]})})]})}}),r&&n(nt,{action:r,close:()=>{a(null)},after:t.again}),s&&t.data&&
n(ms,{of:t.data,close:()=>{o(!1)},after:t.again})]})}function ms({of:e,close:t,after:r}){let[a]=h(e),s=a.settings,o={callbackTimeout:Q(s.callbackTimeout),historyRetention:Q(
s.historyRetention),deadRetention:Q(s.deadRetention),hostConcurrency:String(s.hostConcurrency),maxPending:String(s.quota?.maxPending??"")},[i,l]=h(o),c=u=>d=>{l(
{...i,[u]:d})},f=()=>{let u={};for(let d of["callbackTimeout","historyRetention","deadRetention"])i[d]!==o[d]&&(u[d]=i[d]||null);return i.hostConcurrency!==o.hostConcurrency&&
(u.hostConcurrency=i.hostConcurrency?Number(i.hostConcurrency):null),i.maxPending!==o.maxPending&&(u.quota={...s.quota,maxPending:i.maxPending?Number(i.maxPending):
null}),Object.keys(u).length?{name:a.name,settings:u,ifVersion:a.version}:"Nothing has changed."};return n(ue,{title:`Edit ${a.name}`,verb:"Save",path:"namespac\
es/update",body:f,done:`${a.name} is updated.`,close:t,after:r,children:[n(B,{label:"Callback timeout",value:i.callbackTimeout,set:c("callbackTimeout"),hint:"1s\
 to 5m"}),n(B,{label:"History retention",value:i.historyRetention,set:c("historyRetention")}),n(B,{label:"Dead retention",value:i.deadRetention,set:c("deadReten\
tion")}),n(B,{label:"Calls of one host for each dispatcher",type:"number",value:i.hostConcurrency,set:c("hostConcurrency"),hint:"1 to 1024"}),n(B,{label:"Pendin\
g timers, at most",type:"number",value:i.maxPending,set:c("maxPending"),hint:"Empty: no limit"}),n("p",{class:"hint",children:["Empty fields get their default. \
All other settings: ",n("code",{children:["timerbus namespace update ",a.name," --help"]})]})]})}var na=50;function hs(e){if(!e.held)return"free";let t=$n(e.overdueFor??"");return t>=6e4?"l4":t>=1e4?"l3":t>=2e3?"l2":t>0?"l1":"l0"}var gs=[["l0","nothing over\
due"],["l1","< 2 s"],["l2","< 10 s"],["l3","< 1 min"],["l4","longer"],["free","no owner"]];function ra(){let e=T.value,t=M(`shards/${e}`,5e3,s=>D("shards/list",
{namespace:e},s)),[r,a]=h(na);return n(W,{title:"Shards",children:n(j,{of:t,children:({shards:s})=>{let o=s.filter(d=>!d.held).length,i=s.filter(d=>d.overdueFor),
l=Math.max(0,...i.map(d=>$n(d.overdueFor??""))),c=new Map;for(let d of s)d.held&&c.set(d.node??"",(c.get(d.node??"")??0)+1);let f=Math.max(1,...c.values()),u=ht();
return n(b,{children:[n("div",{class:"tiles",children:[n(ee,{label:"Shards",value:P(s.length),hint:e}),n(ee,{label:"Without an owner",value:P(o),kind:o?"warn":"",
hint:o?"no scheduler runs, or one just ended":"all are owned"}),n(ee,{label:"With overdue timers",value:P(i.length),kind:l>1e4?"warn":"",hint:l?`longest ${Ie(l)}`:
"none"}),n(ee,{label:"Nodes",value:P(c.size),hint:"that own shards"})]}),n("div",{class:"grid",children:[n(N,{title:"Lag",wide:!0,aside:n("div",{class:"legend",
children:gs.map(([d,m])=>n("span",{children:[n("i",{class:`cell ${d}`}),m]},d))}),children:n("div",{class:"heat",role:"img","aria-label":`${ie(s.length,"shard")}\
: ${o} without an owner, ${i.length} with overdue timers. The table below lists them, ${na} at first.`,children:s.map(d=>n("i",{class:`cell ${hs(d)}`,title:`sha\
rd ${d.shard}, partition ${d.partition}, ${d.held?d.node:"no owner"}${d.overdueFor?`, overdue for ${d.overdueFor}`:""}`},d.shard))})}),n(N,{title:"Balance",wide:!0,
children:c.size===0?n(H,{title:"No node owns a shard.",command:"timerbus scheduler --help",children:"Start a scheduler:"}):n("ul",{class:"balance",children:[...c].
sort(([d],[m])=>d<m?-1:1).map(([d,m])=>n("li",{children:[n("span",{class:"clip",children:d}),n("span",{class:"meter","aria-hidden":"true",children:n("span",{style:{
width:`${m/f*100}%`}})}),n("span",{class:"num",children:ie(m,"shard")})]},d))})}),n(N,{title:"Every shard",wide:!0,flush:!0,children:[n(se,{caption:"Shards",head:[
"Shard","Partition","Owner","Claimed","Watermark","Next due","Overdue for"],stack:!0,children:s.slice(0,r).map(d=>n("tr",{children:[n("td",{class:"num","data-la\
bel":"Shard",children:d.shard}),n("td",{class:"num","data-label":"Partition",children:d.partition}),n("td",{class:"clip","data-label":"Owner",children:d.held?d.
node:n(ae,{kind:"retrying",children:"none"})}),n("td",{"data-label":"Claimed",children:n(I,{at:d.claimedAt,only:"relative"})}),n("td",{"data-label":"Watermark",
children:d.watermark?n("time",{dateTime:d.watermark,title:d.watermark,children:[Ie(Math.max(0,u-Date.parse(d.watermark)))," behind"]}):n("span",{class:"muted",children:"\
\u2013"})}),n("td",{"data-label":"Next due",children:n(I,{at:d.nextDueAt,only:"relative"})}),n("td",{class:"num","data-label":"Overdue for",children:d.overdueFor??
n("span",{class:"muted",children:"\u2013"})})]},d.shard))}),s.length>r&&n("div",{class:"pager",children:[n("span",{class:"muted",children:[r," of ",P(s.length)]}),
n(w,{onClick:()=>{a(r+500)},children:"Show more"})]})]})]})]})}})})}function vs(){let e=Y(new at("dispatcher_callback_seconds_count")),t=T.value,r=M(`callbacks/${t}`,3e3,async a=>{let s=new rt(await It(a)),o=e.current.add(s),i=l=>s.
quantile(l,"dispatcher_callback_seconds",o,{namespace:t});return{called:s.sum("dispatcher_hosts",{state:"called"}),queued:s.sum("dispatcher_hosts",{state:"queue\
d"}),open:s.sum("dispatcher_hosts",{state:"open"}),inFlight:s.sum("dispatcher_in_flight"),p50:i(.5),p99:i(.99),results:[...s.by("dispatcher_callbacks_total","re\
sult",{namespace:t})].filter(([,l])=>l>0)}});return n(j,{of:r,children:a=>a.called===void 0?n("p",{class:"callout",children:["This process delivers no timers, s\
o it knows no hosts. Dispatchers export their figures at ",n("code",{children:"/metrics"}),"."]}):n(b,{children:[n("div",{class:"tiles",children:[n(ee,{label:"H\
osts called",value:P(a.called),hint:"with calls in flight"}),n(ee,{label:"Hosts with a queue",value:P(a.queued??0),hint:"timers wait for a permit",kind:a.queued?
"warn":""}),n(ee,{label:"Open circuits",value:P(a.open??0),hint:"hosts that do not answer",kind:a.open?"bad":""}),n(ee,{label:"In flight",value:P(a.inFlight??0),
hint:"deliveries of this process"}),n(ee,{label:"Callback p50",value:Ze(a.p50),hint:`${t}, last minute`}),n(ee,{label:"Callback p99",value:Ze(a.p99),hint:`${t},\
 last minute`})]}),a.results.length>0&&n(N,{title:`Answers of ${t} since the start of this process`,wide:!0,children:n("div",{class:"chips",children:a.results.map(
([s,o])=>n("span",{class:`chip ${s==="2xx"?"done":s==="3xx"?"":"dead"}`,children:[s," ",n("strong",{children:P(o)})]},s))})})]})})}function _s(){let e=T.value,t=M(
`targets/${e}`,3e3,r=>D("targets/list",{namespace:e,limit:200},r));return n(N,{title:"Hosts and user topics",flush:!0,wide:!0,children:n(j,{of:t,children:({delivers:r,
targets:a})=>r?a.length===0?n(H,{title:`No timer of ${e} has been delivered since the start of this process.`}):n(se,{caption:"Hosts and user topics",head:["Tar\
get","Circuit","Running","Waiting","Concurrency"],stack:!0,children:a.map(s=>n("tr",{children:[n("td",{class:"id","data-label":"Target",children:s.target}),n("t\
d",{"data-label":"Circuit",children:s.circuitOpen?n(ae,{kind:"dead",children:"open"}):n(ae,{kind:"done",children:"closed"})}),n("td",{class:"num","data-label":"\
Running",children:P(s.running)}),n("td",{class:"num","data-label":"Waiting",children:P(s.waiting)}),n("td",{class:"num","data-label":"Concurrency",children:P(s.
concurrency)})]},s.target))}):n(H,{title:"This process delivers no timers, so it knows no hosts.",children:"Dispatchers that run as separate processes do not sh\
are this state."})})})}function aa(){let e=T.value,t=re.value.query.get("after")??"",r=M(`flows/${e}/${t}`,3e3,a=>D("flows/list",{namespace:e,after:t||void 0,limit:100},
a));return n(W,{title:"Targets",children:[Qe("read")?n(vs,{}):n("p",{class:"callout",children:"The figures of hosts need the right to read all namespaces."}),n(
_s,{}),n(N,{title:"Flow keys",flush:!0,wide:!0,children:n(j,{of:r,children:a=>n(b,{children:[a.flows.length===0?n(H,{title:`No flow of ${e} is in use.`,command:`\
timerbus namespace update ${e} --flow 'tenant-*:10/1s,concurrency=2'`,children:"Timers with the same flow key share a limit. Set limits with the CLI:"}):n(se,{caption:"\
Flow keys",head:["Flow key","Limit","Running","Waiting","Backlog","Dispatchers"],stack:!0,children:a.flows.map(s=>n("tr",{children:[n("td",{class:"id","data-lab\
el":"Flow key",children:s.flowKey}),n("td",{"data-label":"Limit",children:s.limit?jt(s.limit):"no pattern matches"}),n("td",{class:"num","data-label":"Running",
children:P(s.running)}),n("td",{class:"num","data-label":"Waiting",children:P(s.waiting)}),n("td",{class:"num","data-label":"Backlog",children:P(s.backlog)}),n(
"td",{class:"num","data-label":"Dispatchers",children:P(s.dispatchers)})]},s.flowKey))}),(a.next||t)&&n("div",{class:"pager",children:[n("span",{}),n("span",{class:"\
pager-buttons",children:[t&&n("a",{class:"button",href:$(["targets"]),children:"First page"}),a.next&&n("a",{class:"button",href:$(["targets"],{after:a.next}),children:"\
Next page"})]})]})]})})})]})}function oa({id:e}){let t=T.value,r=u=>u.timerId===e,a=M(`timer/${t}/${e}`,2e3,u=>D("timers/get",{namespace:t,id:e},u),!1,r),s=M(`history/${t}/${e}`,3e3,u=>D("t\
imers/history",{namespace:t,id:e,limit:200},u),!1,r),[o,i]=h(null),l=a.data,c=()=>{a.again(),s.again()},f=l&&oe("write",t)&&n(b,{children:[l.status==="dead"||l.
status==="parked"||l.status==="done"?n(w,{kind:"primary",onClick:()=>{i("retry")},children:"Retry\u2026"}):n(b,{children:[l.status!=="paused"&&n(w,{kind:"primar\
y",onClick:()=>{i("run")},children:"Run now\u2026"}),l.status==="paused"?n(w,{onClick:()=>{i("resume")},children:"Resume\u2026"}):n(w,{onClick:()=>{i("pause")},
children:"Pause\u2026"})]}),l.status!=="dead"&&l.status!=="done"&&n(b,{children:[n(w,{onClick:()=>{i("update")},children:"Update\u2026"}),n(w,{kind:"danger-ghos\
t",onClick:()=>{i("delete")},children:"Delete\u2026"})]})]});return n(W,{title:e,crumb:n(b,{children:[n("a",{href:$(["timers"]),children:"Timers"})," / ",t]}),actions:f,
children:[n(j,{of:a,children:u=>n("div",{class:"grid",children:[n(ys,{of:u}),n(bs,{of:u}),n(N,{title:"Attempts",wide:!0,children:n(j,{of:s,children:({attempts:d})=>n(
ks,{attempts:d,of:u})})})]})}),a.error?.status===404&&n(H,{title:"This timer does not exist, or its history has expired.",children:n("a",{href:$(["timers"]),children:[
"All timers of ",t]})}),l&&o&&n(ws,{of:l,action:o,close:()=>{i(null)},after:c})]})}function ys({of:e}){let t=e.retryPolicy,r=e.status==="done"||e.status==="dead";
return n(N,{title:"State",aside:n(Ee,{status:e.status}),children:[e.lastError&&n("div",{class:"callout bad",children:[n("strong",{children:e.lastStatusCode?`HTT\
P ${e.lastStatusCode}`:"Last error"})," ",e.lastError]}),n(zt,{of:e.pause}),n(Te,{of:[["Due",r?void 0:n(I,{at:e.dueAt})],["Execute at",n(I,{at:e.executeAt})],["\
Local time",e.executeAtLocal&&`${e.executeAtLocal.replace("T"," ")} ${e.timeZone}`],["Last attempt",e.executedAt&&n(I,{at:e.executedAt})],["Attempts",`${e.attempts}\
 of ${t.maxAttempts}`],["Retry",`from ${Q(t.initialInterval)}, \xD7 ${JSON.stringify(t.backoffMultiplier)}, to ${Q(t.maxInterval)}`+(t.maxAttemptsDuration&&t.maxAttemptsDuration!==
"0s"?`, for ${Q(t.maxAttemptsDuration)}`:"")],["Window",e.window],["Expires",e.expiresAt&&n(I,{at:e.expiresAt})],["Flow key",e.flowKey&&n("code",{children:e.flowKey})],
["On done",e.onDone&&n("code",{children:e.onDone})],["On dead",e.onDead&&n("code",{children:e.onDead})],["Correlation id",n("a",{href:$(["timers"],{correlationId:e.
correlationId}),children:n("code",{children:e.correlationId})})],["Created",n(I,{at:e.createdAt})],["Updated",n(I,{at:e.updatedAt})],["Generation",n("code",{children:e.
generation})],["UUID",n("code",{children:e.uuid})]]})]})}function bs({of:e}){let t=!ke.hidePayloads,r=n("p",{class:"muted",children:"Hidden by the settings of t\
he server."});return n(N,{title:"Request",children:[n(Te,{of:[["Delivers",e.deliver],["Method",e.request?.method??(e.callbackUrl?"POST":void 0)],["URL",e.callbackUrl&&
n("span",{class:"url",children:[n("code",{children:e.callbackUrl})," ",n(An,{text:e.callbackUrl})]})],["Topic",e.topic&&n("code",{children:e.topic})],["Key",e.key&&
n("code",{children:e.key})],["Timeout",Q(e.callbackTimeout)],["Content type",e.request?.contentType]]}),e.headers&&Object.keys(e.headers).length>0&&n(b,{children:[
n("h3",{children:"Headers"}),t?n(Te,{of:Object.entries(e.headers).map(([a,s])=>[a,n("code",{children:s})])}):r]}),n("h3",{children:"Payload"}),t?e.payload!==void 0?
n(et,{value:e.payload,label:"Payload"}):e.request?.body!==void 0?n(et,{value:e.request.body,label:"Body"}):e.request?.bodyBase64!==void 0?n(et,{value:e.request.
bodyBase64,label:"Body, base64"}):n("p",{class:"muted",children:e.status==="done"?"A done timer is shown without its payload.":"This timer has no payload."}):r]})}
var sa={done:"done",rescheduled:"scheduled",failed:"retrying",dead:"dead",expired:"parked"};function ks({attempts:e,of:t}){if(e.length===0)return n(H,{title:"No\
 attempt has ended yet.",children:t.status==="scheduled"&&n(b,{children:["The first one begins ",n(I,{at:t.dueAt}),"."]})});let r=o=>Date.parse(o.finishedAt)-Date.
parse(o.startedAt),a=Math.max(1,...e.map(r)),s=(o,i)=>{let l=e[i+1];return Date.parse(o.startedAt)-Date.parse(l?.generation===o.generation&&l.nextAt?l.nextAt:o.
executeAt)};return n("ol",{class:"timeline",children:e.map((o,i)=>n("li",{class:sa[o.outcome],children:[n("div",{class:"timeline-head",children:[n(ae,{kind:sa[o.
outcome],children:o.outcome}),n("strong",{children:["Attempt ",o.attempt]}),n(I,{at:o.startedAt}),n("span",{class:"muted",children:[Ie(Math.max(0,s(o,i)))," lat\
e"]})]}),n("div",{class:"timeline-body",children:[n("span",{children:[t.callbackUrl?n(b,{children:[n("code",{children:t.request?.method??"POST"})," \u2192 "]}):
"published \u2192 ",o.statusCode?n("strong",{children:["HTTP ",o.statusCode]}):o.error?"no answer":"accepted"]}),n("span",{class:"meter","aria-hidden":"true",children:n(
"span",{style:{width:`${Math.max(1,r(o)/a*100)}%`}})}),n("span",{class:"num",children:Ie(r(o))})]}),o.error&&n("p",{class:"timeline-error",children:o.error}),o.
nextAt&&n("p",{class:"muted",children:["Next attempt: ",n(I,{at:o.nextAt})]})]},o.generation+o.attempt+o.startedAt))})}function ws({of:e,action:t,close:r,after:a}){
let[s]=h(e),[o,i]=h(""),[l,c]=h("deliver"),[f,u]=h(""),d={namespace:s.namespace,id:s.id,ifGeneration:s.generation},m={close:r,after:a};switch(t){case"run":return n(
ue,{...m,title:`Run ${s.id} now`,verb:"Run now",path:"timers/run-now",body:()=>d,done:`${s.id} runs now.`,children:n("p",{children:"The timer becomes due at onc\
e, as a new run of attempts."})});case"pause":return n(ue,{...m,title:`Pause ${s.id}`,verb:"Pause",path:"timers/pause",body:()=>({...d,note:o||void 0}),done:`${s.
id} is paused.`,children:[n("p",{children:"A paused timer is not delivered until it is resumed."}),n(B,{label:"Note",value:o,set:i,hint:"Why it is paused; shown\
 to everyone who may read it."})]});case"resume":return n(ue,{...m,title:`Resume ${s.id}`,verb:"Resume",path:"timers/resume",body:()=>({...d,overdue:l}),done:`${s.
id} is resumed.`,children:n(ce,{label:"If its time has passed",value:l,set:c,options:[["deliver","Deliver it now"],["skip","Let it expire"]]})});case"retry":return n(
ue,{...m,title:`Retry ${s.id}`,verb:"Retry",path:"timers/retry",body:()=>({...d,executeIn:f||void 0}),done:`${s.id} is scheduled again.`,children:[n("p",{children:[
"The timer starts again at attempt 1",s.status==="done"&&". A done timer can be retried only if its namespace keeps payloads","."]}),n(B,{label:"Delay",value:f,
set:u,placeholder:"0s",hint:"Such as 10m; now if it is empty."})]});case"delete":return n(ue,{...m,title:`Delete ${s.id}`,verb:"Delete",danger:!0,path:"timers/d\
elete",body:()=>d,done:`${s.id} is deleted.`,after:()=>{le(["timers"])},children:n("p",{children:"It is not delivered any more."})});default:return n(xs,{of:s,...m})}}
function xs({of:e,close:t,after:r}){let a={at:Fe(e.executeAt),url:e.callbackUrl??"",payload:e.payload===void 0?"":JSON.stringify(e.payload,null,2)},[s,o]=h(a.at),
[i,l]=h(a.url),[c,f]=h(a.payload),u=()=>{let d={};if(s!==a.at){let m=fe(s);if(!m)return"Enter the time completely.";d.executeAt=m}if(i!==a.url&&(d.callbackUrl=i||
null),c!==a.payload){let{value:m,error:p}=mt(c);if(p)return p;d.payload=m??null}return Object.keys(d).length===0?"Nothing has changed.":{namespace:e.namespace,id:e.
id,ifGeneration:e.generation,...d}};return n(ue,{title:`Update ${e.id}`,verb:"Save",path:"timers/update",body:u,done:`${e.id} is updated.`,close:t,after:r,children:[
n(B,{label:`Time (${Ce()})`,type:"datetime-local",step:"1",value:s,set:o}),n(B,{label:"Callback URL",value:i,set:l,mono:!0}),ke.hidePayloads?n("p",{class:"muted",
children:"Payloads are hidden by the settings of the server."}):n(_t,{label:"Payload (JSON)",value:c,set:f,rows:8}),n("p",{class:"hint",children:"Only changed f\
ields are sent. The update starts again at attempt 1, and fails if the timer has changed since."})]})}var In=[["overview","Overview","o"],["timers","Timers","t"],["dead","Dead letters","d"],["schedules","Schedules","s"],["namespaces","Namespaces","n"],["targets",
"Targets","a"],["shards","Shards","h"]];function Cs(){let[e="overview",t,r]=re.value.path,a=`${e}/${T.value}/${t??""}`;if(!we.value&&(e==="overview"||e==="targe\
ts"))return n("div",{class:"skeleton",role:"status",children:n("span",{class:"sr",children:"Loading"})});switch(e){case"overview":return n(Mr,{},a);case"timers":
return t===void 0?n(Ur,{},a):n(oa,{id:t},a);case"dead":return n(Hr,{},a);case"schedules":return t===void 0?n(Zr,{},a):n(Wr,{id:t},a);case"namespaces":return t===
void 0?n(ea,{}):n(ta,{name:t},t);case"targets":return n(aa,{},a);case"shards":return n(ra,{},a);case"new":return t==="schedule"?n(Xr,{},a):n(Qr,{},a+(r??""));default:
return n(W,{title:"Not found",children:n(H,{title:"There is no such page.",children:n("a",{href:$(["overview"]),children:"Overview"})})})}}function Ts({reason:e}){
let[t,r]=h(""),[a,s]=h(),[o,i]=h(!1);J(()=>{document.title="Sign in \xB7 Timerbus"},[]);let l=async()=>{let c=Ae.value;i(!0),s(void 0),Ot(t.trim());try{await Ft()}catch(f){
Ot(c),s(ne(f))}i(!1)};return n("main",{class:"sign-in",children:n("form",{class:"card",onSubmit:c=>{c.preventDefault(),l()},children:[n("h1",{children:[n(Fn,{}),
" Timerbus"]}),n("p",{children:"Sign in with the token of the service, the token of an API key, or a token of the identity provider."}),a?n(me,{error:a}):Ae.value&&
n("div",{class:"error",role:"alert",children:n("p",{children:e})}),n("div",{class:"field",children:[n("label",{for:"token",children:"Token"}),n("input",{id:"tok\
en",type:"password",value:t,autocomplete:"off",required:!0,"aria-describedby":"token-hint",onInput:c=>{r(c.currentTarget.value)}}),n("p",{class:"hint",id:"token\
-hint",children:["It stays in this tab until the tab is closed. Create a key for reading with",n("code",{children:" timerbus key create ui --grant read@*"}),"."]})]}),
n("button",{type:"submit",class:"button primary block",disabled:o,children:o?"Checking\u2026":"Sign in"})]})})}var Fn=()=>n("svg",{class:"mark",viewBox:"0 0 32 \
32","aria-hidden":"true",children:[n("rect",{width:"32",height:"32",rx:"7",class:"mark-back"}),n("circle",{cx:"16",cy:"16",r:"9",class:"mark-line"}),n("path",{d:"\
M16 10.5V16l4 2.6",class:"mark-line"})]});function Ss({close:e}){return n(We,{title:"Keyboard",close:e,children:[n("dl",{class:"facts keys",children:[In.map(([,
t,r])=>n("div",{children:[n("dt",{children:[n("kbd",{children:"g"})," ",n("kbd",{children:r})]}),n("dd",{children:t})]},r)),n("div",{children:[n("dt",{children:n(
"kbd",{children:"c"})}),n("dd",{children:"Create a timer"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"/"})}),n("dd",{children:"Search or filter"})]}),
n("div",{children:[n("dt",{children:n("kbd",{children:"l"})}),n("dd",{children:"Live updates on or off"})]}),n("div",{children:[n("dt",{children:n("kbd",{children:"\
?"})}),n("dd",{children:"This list"})]})]}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:Ht.value==="on",onChange:t=>{Ht.value=t.currentTarget.
checked?"on":"off"}}),"Use these keys"]})]})}var Ln=0;function $s(e){J(()=>{let t=r=>{let a=r.target;if(r.ctrlKey||r.metaKey||r.altKey||a.closest("input, textar\
ea, select, [contenteditable]")||document.querySelector("dialog[open]"))return;if(r.key==="?"){e();return}if(Ht.value==="off")return;let s=Date.now()-Ln<1500;if(Ln=
0,s){let o=In.find(([,,i])=>i===r.key);o&&le([o[0]])}else if(r.key==="g")Ln=Date.now();else if(r.key==="c")le(["new","timer"]);else if(r.key==="l")xe.value=xe.value===
"on"?"off":"on";else if(r.key==="/"){let o=document.querySelector("[data-search]");o&&(r.preventDefault(),o.focus())}};return addEventListener("keydown",t),()=>{
removeEventListener("keydown",t)}},[])}function As(){let[e,t]=h(!1),[r,a]=h(!1);$s(()=>{a(!0)}),J(()=>{let c=new AbortController;return we.value&&Ut(c.signal).catch(
()=>{}),()=>{c.abort()}},[we.value?.name]);let[s="overview"]=re.value.path;J(()=>{t(!1)},[re.value]);let o=[...new Set([T.value,...Mt.value.map(c=>c.name)])].sort(),
i=c=>{re.value.path.length>1&&s!=="new"?le([s],{ns:c}):ge({ns:c})};return n(b,{children:[n("button",{type:"button",class:"skip",onClick:()=>{document.querySelector(
"#main h1")?.focus()},children:"Skip to the content"}),n("header",{children:[n(w,{kind:"icon menu","aria-label":"Menu","aria-expanded":e,"aria-controls":"nav",onClick:()=>{
t(!e)},children:"\u2630"}),n("a",{class:"brand","aria-label":"Timerbus, overview",href:$(["overview"]),children:[n(Fn,{}),n("span",{children:"Timerbus"})]}),n("\
label",{class:"sr",for:"ns",children:"Namespace"}),n("select",{id:"ns",class:"namespace",value:T.value,onChange:c=>{i(c.currentTarget.value)},children:o.map(c=>n(
"option",{value:c,selected:c===T.value,children:c},c))}),n("div",{class:"spacer"}),ke.readOnly&&n("span",{class:"badge paused",children:"read-only"}),n("div",{class:`\
prefs${e?" open":""}`,children:[n("label",{class:"sr",for:"zone",children:"Time zone"}),n("select",{id:"zone",value:ye.value,onChange:c=>{ye.value=c.currentTarget.
value},children:[n("option",{value:"local",selected:ye.value==="local",children:"Local time"}),n("option",{value:"utc",selected:ye.value==="utc",children:"UTC"}),
n("option",{value:"schedule",selected:ye.value==="schedule",children:["Schedule",Pe.value?` (${Pe.value})`:"\u2019s zone"]})]}),n(w,{kind:"ghost live","aria-pre\
ssed":xe.value==="on",title:Ne.value==="no"?"Live updates by polling":"Live updates by events",onClick:()=>{xe.value=xe.value==="on"?"off":"on"},children:[n("sp\
an",{class:"dot"}),"Live"]}),n("label",{class:"sr",for:"theme",children:"Colours"}),n("select",{id:"theme",value:Le.value,onChange:c=>{Le.value=c.currentTarget.
value},children:[n("option",{value:"auto",selected:Le.value==="auto",children:"Auto"}),n("option",{value:"light",selected:Le.value==="light",children:"Light"}),
n("option",{value:"dark",selected:Le.value==="dark",children:"Dark"})]})]})]}),n("div",{class:"frame",children:[n("nav",{id:"nav","aria-label":"Pages",class:e?"\
open":"",children:[n("ul",{children:In.map(([c,f])=>n("li",{children:n("a",{href:$([c]),"aria-current":s===c?"page":void 0,children:f})},c))}),n("div",{class:"n\
av-foot",children:[n("div",{children:we.value?.name==="anyone"?"no credential required":we.value?.name}),Ae.value&&n(w,{kind:"small",onClick:()=>{Ot(""),we.value=
null,Mt.value=[],De.value=""},children:"Sign out"}),n(w,{kind:"small",onClick:()=>{a(!0)},children:"Keyboard"}),n("div",{class:"version",children:[ke.version," \
\xB7 ",n("a",{href:"licenses.txt",children:"licences"})]})]})]}),n("main",{id:"main",children:n(Cs,{})})]}),n("div",{class:"notices",role:"status","aria-live":"\
polite",children:Xe.value.map(c=>n("div",{class:`notice ${c.kind}`,children:[c.text,n(w,{kind:"icon","aria-label":"Dismiss",onClick:()=>{Tn(c.id)},children:"\u2715"})]},
c.id))}),r&&n(Ss,{close:()=>{a(!1)}})]})}var Ps=Ft();function Es(){let[e,t]=h(),r=(a=Ft())=>{t(void 0),a.catch(s=>{let o=ne(s);o.status!==401&&t(o)})};return $t(
()=>{r(Ps)},[]),De.value!==null?n(Ts,{reason:De.value}):e?n("main",{class:"sign-in",children:n("div",{class:"card",children:[n("h1",{children:[n(Fn,{})," Timerb\
us"]}),n(me,{error:e,again:()=>{r()}})]})}):n(As,{})}Yn(n(Es,{}),document.getElementById("app"));
